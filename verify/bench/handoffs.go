package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/internal/quantile"
)

// handed has the cost of the hand-offs of one slice. They are counted while the load is steady: after all waiters are
// in the queue, and before their waits are cancelled.
type handed struct {
	Between int                // hand-offs from one process to another
	Within  int                // hand-offs inside a process
	Rate    float64            // all hand-offs per second
	By      map[string]float64 // INFO commandstats: calls per hand-off and node, by command, without the bench's
	Calls   float64            // the sum of evalsha and eval in By
	All     float64            // the sum of By without PING, which libraries send on idle connections

	Gap, Gap99 float64 // µs, between processes
	WithinGap  float64 // µs, p50
	// These are medians of the time of a bare PING, in µs. Ping: during the slice. Meeting: during a gap of the slice.
	// Idle: before the slice, at the same pace. Tight: before the slice, without pauses.
	Ping, Meeting, Idle, Tight float64
}

// inPings returns the gap, measured in round trips of the same slice.
func (h handed) inPings() float64 {
	if h.Ping == 0 || h.Gap == 0 {
		return math.NaN() // NaN meets no demand
	}
	return h.Gap / h.Ping
}

// margin is the part at the end of a slice that is not counted. Cancelled waiters leave their queues, and these calls
// belong to no hand-off.
const margin = 300 * time.Millisecond

// errLate means that the counters were read after the end of the margin.
var errLate = errors.New("the counters were read after the end of the slice: the machine is too busy to measure")

// measureHandoffs runs one slice of a crowd that records its leases.
func measureHandoffs(t *team, w workload, on *stage) (x sample, err error) {
	p, err := newPinger(on.urls)
	if err != nil {
		return x, err
	}
	defer p.close()
	idle, err := p.paced(time.Now().Add(300 * time.Millisecond))
	if err != nil {
		return x, err
	}
	tight, err := p.tight(300)
	if err != nil {
		return x, err
	}
	s := w.slice(t)
	s.For += margin
	var before, after []reading
	var busy []pong
	x, outcomes, err := account(on, func() ([]outcome, error) {
		s.Begin = t.soon()
		from := s.Begin.Add(s.Warm)
		wait := t.begin(s)
		time.Sleep(time.Until(from))
		var err1, err2, err3 error
		before, err1 = readAll(on.servers, p)
		busy, err2 = p.paced(from.Add(w.long))
		after, err3 = readAll(on.servers, p)
		late := time.Since(from.Add(s.For))
		outcomes, err := wait()
		if late > 0 {
			err3 = errors.Join(err3, fmt.Errorf("%w: %v", errLate, late))
		}
		return outcomes, errors.Join(err, err1, err2, err3)
	})
	if err != nil {
		return x, err
	}
	all, err := pair(outcomes)
	if err != nil {
		return x, err
	}
	x.Handed, err = newHanded(all, before, after, w.goroutines > 1)
	x.Handed.Ping, x.Handed.Meeting = middlePing(busy), middlePing(inGaps(busy, all))
	x.Handed.Idle, x.Handed.Tight = middlePing(idle), middlePing(tight)
	return x, err
}

// newHanded computes the cost per hand-off. Each node has its own period: between the two readings of its counters.
// With withPasses, hand-offs inside a process count as hand-offs. Without it they are not counted, but their calls are;
// there should be none.
func newHanded(all []handoff, before, after []reading, withPasses bool) (h handed, err error) {
	h.By = map[string]float64{}
	nodes := float64(len(before))
	for i := range before {
		n := 0
		for _, o := range all {
			if o.at > before[i].at && o.at <= after[i].at && (withPasses || !o.within) {
				n++
			}
		}
		if n == 0 {
			return h, fmt.Errorf("no hand-off between %v and %v", before[i].at, after[i].at)
		}
		for c, calls := range after[i].since(before[i]) {
			h.By[c] += float64(calls) / float64(n) / nodes
		}
	}
	for c, calls := range h.By {
		if c != "ping" {
			h.All += calls
		}
	}
	h.Calls = h.By["evalsha"] + h.By["eval"]
	var between, within []time.Duration
	from, to := before[0].at, after[0].at
	for _, o := range all {
		switch {
		case o.at <= from || o.at > to:
		case o.within:
			within = append(within, o.gap)
		default:
			between = append(between, o.gap)
		}
	}
	h.Between, h.Within = len(between), len(within)
	h.Rate = float64(h.Between+h.Within) / (to - from).Seconds()
	h.Gap, h.Gap99, h.WithinGap = micros(quantile.Of(between).Median()), micros(quantile.Of(between).Percentile(99)), micros(quantile.Of(within).Median())
	return h, nil
}

// reading has the counters of a node at one instant.
type reading struct {
	tally
	at   time.Duration
	ours int // the PINGs of the bench itself
}

func read(s *server, ours int) (reading, error) {
	begin := monotonic()
	t, err := s.tally()
	return reading{tally: t, at: begin + (monotonic()-begin)/2, ours: ours}, err
}

func readAll(servers []*server, p *pinger) (list []reading, err error) {
	for i, s := range servers {
		r, err := read(s, p.sent[i])
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// since returns the calls of each command between two readings, without those of the bench itself.
func (r reading) since(before reading) map[string]int {
	calls := map[string]int{}
	for c, n := range r.Calls {
		n -= before.Calls[c]
		switch c {
		case "info":
			continue
		case "ping":
			n -= r.ours - before.ours
		}
		if n != 0 {
			calls[c] = n
		}
	}
	return calls
}

func (r reading) scripts() int { return r.Calls["evalsha"] + r.Calls["eval"] }
