package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// slice is one measurement in one worker process. All workers of a system get the
// same, and begin and end at the same instants of the machine's clock.
type slice struct {
	Processes  int    // the first of the team
	Goroutines int    // in each
	Hot        bool   // all want one name; else each goroutine has its own
	Name       string // the hot name, or the beginning of the others
	Hold       time.Duration
	Begin      time.Time // the crowd starts
	Warm, For  time.Duration
	Record     bool // note every lease
	Once       bool // each takes it once; For bounds the wait
}

// outcome is what one worker, or all of a system together, did in a slice.
type outcome struct {
	Cycles  []int         // by goroutine: completed within For
	All     int           // also before and after
	Lock    histogram     // from asking to having; hot: of those who never got it, too
	Cycle   histogram     // from asking to having given back
	CPU     time.Duration // of the process within For
	CPUAll  time.Duration // of the process in the whole slice
	Seconds float64       // For, as it was
	Failed  int
	Error   string // the first failure

	Records []record        // slice.Record, slice.Once
	Renewed []time.Duration // slice.Once: when, by CLOCK_MONOTONIC
}

func (o *outcome) total() int {
	n := 0
	for _, c := range o.Cycles {
		n += c
	}
	return n
}

// stuck is for how long after the end of a slice a lock with a name of its own is
// waited for. It happens: rueidislock waits for a notification of a release, and if
// its own acquire timed out none comes.
const stuck = 2 * time.Second

// gather runs a crowd of goroutines on a locker.
func gather(l locker, s slice) outcome {
	from := s.Begin.Add(s.Warm)
	until := from.Add(s.For)
	// A hot crowd is called off at the end. With a name of one's own nobody waits, and
	// who does not return for stuck is not waiting but lost.
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
			// A context for each: one for all would be a lock for all.
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

// measureCPU sends what the process used between two instants.
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
			// Who never got it waited at least that long.
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
