package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// slice is one measurement in one worker process. All workers of a system get the same slice. They begin and end at the
// same instants of the machine's clock.
type slice struct {
	Processes  int    // the number of processes of the team that take part
	Goroutines int    // per process
	Hot        bool   // all goroutines lock one name; otherwise each locks its own
	Name       string // the hot name, or the prefix of the other names
	Hold       time.Duration
	Begin      time.Time // the crowd starts
	Warm, For  time.Duration
	Record     bool // every lease is recorded
	Once       bool // each process takes the lock once; For bounds the wait
}

// outcome is the result of a slice, for one worker or for all workers of a system.
type outcome struct {
	Cycles  []int         // the number of cycles completed within For, by goroutine
	All     int           // all cycles, also before and after For
	Lock    histogram     // from the call of lock to its return; with Hot also for waits without success
	Cycle   histogram     // from the call of lock to the return of unlock
	CPU     time.Duration // the processor time of the process within For
	CPUAll  time.Duration // the processor time of the process in the whole slice
	Seconds float64       // the real length of For
	Failed  int
	Error   string // the first error

	Records []record        // only with slice.Record or slice.Once
	Renewed []time.Duration // with slice.Once: the times of the renewals, by CLOCK_MONOTONIC
}

func (o *outcome) total() int {
	n := 0
	for _, c := range o.Cycles {
		n += c
	}
	return n
}

// stuck is the time after the end of a slice for which a goroutine with its own name waits for its lock. Such waits
// happen: rueidislock waits for the notification of a release, and none comes after a timeout of its acquire.
const stuck = 2 * time.Second

// gather runs a crowd of goroutines on a locker.
func gather(l locker, s slice) outcome {
	from := s.Begin.Add(s.Warm)
	until := from.Add(s.For)
	// If all goroutines want one name (Hot), the bench cancels their waits at the end. A goroutine with its own name
	// waits for nobody. So its call returns soon after the end. If a call takes longer than the constant stuck, it
	// waits for a message that was lost.
	end := until
	if !s.Hot {
		end = until.Add(stuck)
	}
	time.Sleep(time.Until(s.Begin))
	before := ownCPU()
	within := measureCPU(from, until)

	people := make([]person, s.Goroutines)
	var wait sync.WaitGroup
	for i := range people {
		name := s.Name
		if !s.Hot {
			name = fmt.Sprintf("%s/%d", s.Name, i)
		}
		wait.Go(func() {
			// Each goroutine has its own context, because all would wait for the mutex inside a shared one.
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			defer time.AfterFunc(time.Until(end), cancel).Stop()
			people[i].loop(ctx, l, name, s.Hold, from, until)
		})
	}
	wait.Wait()

	o := outcome{CPU: <-within, Seconds: s.For.Seconds()}
	for i := range people {
		p := &people[i]
		o.Cycles = append(o.Cycles, p.cycles)
		o.All += p.all
		o.Failed += p.failed
		if p.err != nil {
			o.Error = p.err.Error()
		}
		o.Lock.merge(p.lock)
		o.Cycle.merge(p.cycle)
	}
	o.CPUAll = ownCPU() - before
	return o
}

// measureCPU returns a channel that receives the CPU time of the process between two instants.
func measureCPU(from, until time.Time) <-chan time.Duration {
	c := make(chan time.Duration, 1)
	go func() {
		time.Sleep(time.Until(from))
		begin := ownCPU()
		time.Sleep(time.Until(until))
		c <- ownCPU() - begin
	}()
	return c
}

// person is one goroutine of a crowd.
type person struct {
	cycles, all, failed int
	lock, cycle         histogram
	err                 error
}

func (p *person) loop(ctx context.Context, l locker, name string, hold time.Duration, from, until time.Time) {
	for {
		asked := time.Now()
		if !asked.Before(until) {
			return
		}
		unlock, err := l.lock(ctx, name)
		had := time.Now()
		if err != nil {
			if ctx.Err() == nil {
				p.fail(err)
				time.Sleep(time.Millisecond)
				continue
			}
			if had.Sub(until) > stuck/2 {
				p.fail(fmt.Errorf("a lock that nobody else wants was not granted for %v", had.Sub(asked).Round(time.Second)))
			}
			// A goroutine that never got the lock waited for at least this time.
			p.lock.add(had.Sub(later(asked, from)))
			return
		}
		if hold > 0 {
			time.Sleep(hold)
		}
		if err := unlock(); err != nil && ctx.Err() == nil {
			p.fail(err)
		}
		done := time.Now()
		p.all++
		if done.After(from) && !done.After(until) {
			p.cycles++
			p.lock.add(had.Sub(asked))
			p.cycle.add(done.Sub(asked))
		}
	}
}

func (p *person) fail(err error) {
	if p.failed++; p.err == nil {
		p.err = err
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
