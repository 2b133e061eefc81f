package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/admin"
)

const (
	youngTerm    = time.Minute            // a term is young if it began so short a time ago
	watchLeaders = 5 * time.Second        // how long young terms are watched
	watchChanges = 15 * time.Second       // the same if the leader changed meanwhile: a restart of all candidates is short
	lookEvery    = 250 * time.Millisecond // at such a leader
	manyTerms    = 4                      // so many terms are too many; the watch of an election ends then
)

// reign is an election whose present term is young, or that nobody leads.
type reign struct {
	name  string
	terms []int64 // the different terms that were seen, by their tokens
	last  string  // the leader of the last one
}

// young notes an election whose term began lately. held is the age of the term.
func (e *exam) young(s *admin.NameStatus, held time.Duration) {
	if s.Kind != admin.KindElection || !s.Known || len(e.reigns) >= mostNames {
		return
	}
	switch h := s.Holder(); {
	case !s.Held:
		e.reigns = append(e.reigns, &reign{name: s.Name})
	case held < youngTerm && h.Fence > 0:
		e.reigns = append(e.reigns, &reign{name: s.Name, terms: []int64{h.Fence}, last: h.String()})
	}
}

// leaders watches the young terms for some seconds. An election changes its leader all the time if it does so three times
// meanwhile. One or two changes may come from a restart of the candidates, one after the other.
func (e *exam) leaders(ctx context.Context) {
	began := time.Now()
	var wait sync.WaitGroup
	for _, r := range e.reigns {
		wait.Go(func() { e.watch(ctx, r) })
	}
	wait.Wait()
	took := max(time.Second, time.Since(began).Round(time.Second))
	if len(e.reigns) == 0 {
		e.find("leaders", "", OK, "no leader has changed within a minute", "")
	}
	for _, r := range e.reigns {
		switch n := len(r.terms); {
		case n >= manyTerms:
			e.find("leaders", "", Warn, fmt.Sprintf("%q: the leader changes all the time: %d terms in %s, the last one of %s", r.name, n, took, r.last),
				"look why the candidates resign, end or lose the lock: their output has the reason; holdfast status "+shell(r.name))
		case n > 1:
			e.find("leaders", "", Note, fmt.Sprintf("%q: the leader has changed within a minute: %d terms in %s, the last one of %s", r.name, n, took, r.last),
				"nothing, if candidates were restarted; otherwise look again: holdfast doctor --only leaders")
		case n == 1:
			e.find("leaders", "", Note, fmt.Sprintf("%q: %s has led for less than a minute", r.name, r.last),
				"nothing, if a candidate was started or stopped; otherwise look again: holdfast doctor --only leaders")
		default:
			e.find("leaders", "", Note, fmt.Sprintf("%q: nobody leads", r.name), "start a candidate, if the election is still in use")
		}
	}
}

// watch notes the terms of an election, until it has seen enough of them, the time is over or ctx ends.
func (e *exam) watch(ctx context.Context, r *reign) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for began, long := time.Now(), watchLeaders; len(r.terms) < manyTerms && time.Since(began) < long; {
		if len(r.terms) > 1 {
			long = watchChanges
		}
		if s, err := e.Client.Status(ctx, r.name); err == nil && s.Held {
			h := s.Holder()
			if leads := h.Fence > 0 && !h.Offered && !h.Left; leads && !slices.Contains(r.terms, h.Fence) {
				r.terms, r.last = append(r.terms, h.Fence), h.String()
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
