package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// endured is what it took to let many wait for long.
type endured struct {
	Waiters int
	Renewed int       // how often the holder's deadline moved
	Mean    float64   // script calls per second and waiter: of the busiest node, over the whole time
	Asked   float64   // … those of waiters alone, by the ZADD that each of their questions makes; the rest are the holder's renewals
	Second  float64   // … in its busiest second
	Peak    float64   // the busiest 100 ms of a node against that node's mean; the worst node
	Chance  float64   // what Peak would be about if the calls came independently
	Renewal float64   // calls per second just after renewals against those at other times; the worst node
	Seconds []float64 // calls per second and waiter, mean of the nodes, in each second
	By      map[string]float64
	Drain   time.Duration // from the holder's Unlock until the last waiter had it
	Served  int           // of the waiters
}

const (
	joined = 500 * time.Millisecond // the holder has it before the others ask
	settle = 4500 * time.Millisecond
	// every is how often counters are read.
	every = 100 * time.Millisecond
	// echo is for how long calls are looked at as the consequence of a renewal. It begins
	// a little before: the holder learns of it last.
	echo  = 300 * time.Millisecond
	ahead = 50 * time.Millisecond
	// drained bounds the wait of those who wait, after the holder is gone.
	drained = time.Minute
)

// measurePatience has the first process of a team hold a name and all others wait for it.
func measurePatience(t *team, w workload, servers []*server) (x sample, err error) {
	s := w.slice(t)
	all := make([][]reading, len(servers))
	x, outcomes, err := account(servers, func() ([]outcome, error) {
		s.Begin = t.soon()
		from := s.Begin.Add(joined + settle)
		until := from.Add(w.hold)
		s.Hold, s.For = until.Add(margin).Sub(s.Begin), until.Sub(s.Begin)+drained
		wait := t.beginEach(s.Processes, func(i int) slice {
			if i == 0 {
				return s
			}
			// All at once: who comes at the same instant must not stay in step.
			waiter := s
			waiter.Begin, waiter.Hold, waiter.For = s.Begin.Add(joined), 0, s.For-joined
			return waiter
		})
		time.Sleep(time.Until(from))
		errs := make([]error, len(servers))
		var reads sync.WaitGroup
		for i, s := range servers {
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

// watch reads a node's counters every so often until then.
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
			e.Renewal = math.NaN() // which meets no demand
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

// once takes the lock one time, holds it and gives it back: what each process of a
// patient crowd does.
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

// hold holds a lease for a while and returns when it was renewed: just before its deadline
// was seen to move.
func hold(l lease, d time.Duration) (renewed []time.Duration) {
	end, deadline := time.Now().Add(d), l.Deadline()
	for time.Now().Before(end) {
		time.Sleep(min(5*time.Millisecond, time.Until(end)))
		// Deadline is made from two clocks: it trembles.
		if now := l.Deadline(); now.Sub(deadline) > every {
			deadline, renewed = now, append(renewed, monotonic()-ahead)
		}
	}
	return renewed
}
