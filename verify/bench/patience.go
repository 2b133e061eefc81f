package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// endured has the cost of a long wait of many waiters.
type endured struct {
	Waiters int
	Renewed int       // how often the holder's deadline moved
	Mean    float64   // script calls per second and waiter at the busiest node, over the whole time
	Asked   float64   // the part of Mean that waiters make: each question runs one ZADD; the rest are renewals
	Second  float64   // script calls per second and waiter at the busiest node, in its busiest second
	Peak    float64   // the ratio of a node's busiest 100 ms to its mean; of the worst node
	Chance  float64   // about the value of Peak for independent calls
	Renewal float64   // the ratio of the call rate just after renewals to that at other times; of the worst node
	Seconds []float64 // calls per second and waiter in each second, mean of the nodes
	By      map[string]float64
	Drain   time.Duration // the time from the holder's Unlock until the last waiter had the lock
	Served  int           // waiters that got the lock
}

const (
	joined = 500 * time.Millisecond // the others ask this much later than the holder
	settle = 4500 * time.Millisecond
	// every is the time between two readings of the counters.
	every = 100 * time.Millisecond
	// Calls within a span of length echo count as a consequence of a renewal. The span begins 50 ms (ahead) before the
	// holder notes the renewal, because the nodes see it first.
	echo  = 300 * time.Millisecond
	ahead = 50 * time.Millisecond
	// drained bounds the wait of the waiters after the holder has released the lock.
	drained = time.Minute
)

// measurePatience measures a slice in which the first process of a team holds a name and all others wait for it.
func measurePatience(t *team, w workload, on *stage) (x sample, err error) {
	s := w.slice(t)
	all := make([][]reading, len(on.servers))
	x, outcomes, err := account(on, func() ([]outcome, error) {
		s.Begin = t.soon()
		from := s.Begin.Add(joined + settle)
		until := from.Add(w.hold)
		s.Hold, s.For = until.Add(margin).Sub(s.Begin), until.Sub(s.Begin)+drained
		wait := t.beginEach(s.Processes, func(i int) slice {
			if i == 0 {
				return s
			}
			// All waiters begin at once. After that their questions must spread over time.
			waiter := s
			waiter.Begin, waiter.Hold, waiter.For = s.Begin.Add(joined), 0, s.For-joined
			return waiter
		})
		time.Sleep(time.Until(from))
		errs := make([]error, len(on.servers))
		var reads sync.WaitGroup
		for i, s := range on.servers {
			reads.Go(func() { all[i], errs[i] = watch(s, until) })
		}
		reads.Wait()
		outcomes, err := wait()
		return outcomes, errors.Join(append(errs, err)...)
	})
	if err != nil {
		return x, err
	}
	if _, err := pair(outcomes); err != nil {
		return x, err
	}
	if len(outcomes[0].Records) == 0 {
		return x, fmt.Errorf("the holder never had it: %s", outcomes[0].Error)
	}
	x.Endured = newEndured(outcomes, all)
	return x, nil
}

// watch reads the counters of a node at regular times, until an instant.
func watch(s *server, until time.Time) (list []reading, err error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for time.Now().Before(until) {
		r, err := read(s, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
		<-tick.C
	}
	return list, nil
}

func newEndured(outcomes []outcome, nodes [][]reading) (e endured) {
	holder := outcomes[0]
	e.Waiters, e.Renewed, e.By = len(outcomes)-1, 0, map[string]float64{}
	gave := holder.Records[0].Gave
	for _, o := range outcomes[1:] {
		for _, r := range o.Records {
			e.Served++
			e.Drain = max(e.Drain, r.Had-gave)
		}
	}
	waiters, n := float64(e.Waiters), float64(len(nodes))
	for _, readings := range nodes {
		var points []point
		for _, r := range readings {
			points = append(points, point{r.at, r.scripts()})
		}
		first, last := readings[0], readings[len(readings)-1]
		e.Renewed = 0
		for _, at := range holder.Renewed {
			if at > first.at && at < last.at {
				e.Renewed++
			}
		}
		fine, coarse := buckets(points, every, every), buckets(points, time.Second, every)
		mean := meanRate(fine)
		e.Mean = max(e.Mean, mean/waiters)
		e.Second = max(e.Second, peakRate(coarse)/waiters)
		e.Peak = max(e.Peak, peakRate(fine)/mean)
		e.Chance = max(e.Chance, chance(len(fine)*len(nodes), mean*every.Seconds()))
		near, others := split(fine, holder.Renewed, echo)
		if len(near) == 0 {
			e.Renewal = math.NaN() // NaN meets no demand
		}
		e.Renewal = max(e.Renewal, meanRate(near)/meanRate(others))
		for i, b := range coarse {
			if i == len(e.Seconds) {
				e.Seconds = append(e.Seconds, 0)
			}
			e.Seconds[i] += b.rate() / waiters / n
		}
		for c, calls := range last.since(first) {
			if c == "zadd" {
				e.Asked = max(e.Asked, float64(calls)/(last.at-first.at).Seconds()/waiters)
			}
			e.By[c] += float64(calls) / (last.at - first.at).Seconds() / waiters / n
		}
	}
	return e
}

// once locks once, holds the lock and unlocks. Each process of the workload patience does this.
func once(f fenced, s slice) (o outcome) {
	time.Sleep(time.Until(s.Begin))
	before := ownCPU()
	defer func() { o.CPUAll = ownCPU() - before }()
	o = outcome{Cycles: []int{0}, Seconds: s.For.Seconds()}
	fail := func(err error) { o.Failed, o.Error = o.Failed+1, err.Error() }
	ctx, cancel := context.WithDeadline(context.Background(), s.Begin.Add(s.For))
	defer cancel()
	l, err := f.lease(ctx, s.Name)
	if err != nil {
		fail(err)
		return o
	}
	r := record{Token: l.Fence(), Had: monotonic()}
	o.Renewed = hold(l, s.Hold)
	r.Gave = monotonic()
	if err := l.Unlock(context.Background()); err != nil {
		fail(err)
	}
	o.Cycles[0], o.All, o.Records = 1, 1, []record{r}
	return o
}

// hold holds a lease for d. It returns the times of its renewals: a little before the moves of its deadline.
func hold(l lease, d time.Duration) (renewed []time.Duration) {
	end, deadline := time.Now().Add(d), l.Deadline()
	for time.Now().Before(end) {
		time.Sleep(min(5*time.Millisecond, time.Until(end)))
		// Deadline is computed from two clocks, so it changes a little at each call.
		if now := l.Deadline(); now.Sub(deadline) > every {
			deadline, renewed = now, append(renewed, monotonic()-ahead)
		}
	}
	return renewed
}
