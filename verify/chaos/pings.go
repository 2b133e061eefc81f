//go:build linux

package chaos

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// pings measure how long the servers take to answer a PING. Clients get no lock while a majority is slow, because the
// machine is busy. The measurement uses no part of the lock. It ignores a single slow server, because the lock must
// tolerate that.
type pings struct {
	// end stops the measurement, and returns the times in which a majority of the servers was slow.
	end func() []span

	mu   sync.Mutex
	slow [][]span // by server: the times in which it owed an answer for too long
}

const (
	pingEvery = 50 * time.Millisecond
	slowPing  = nodeTimeout / 2
)

// measure starts to measure servers. The end of the test stops it, too.
func measure(t testing.TB, servers []*redistest.Server) *pings {
	m := &pings{slow: make([][]span, len(servers))}
	ended := make(chan struct{})
	var wait sync.WaitGroup
	m.end = sync.OnceValue(func() []span {
		close(ended)
		wait.Wait()
		return allSlow(m.slow, len(m.slow)/2+1)
	})
	t.Cleanup(func() { m.end() })
	for i, s := range servers {
		wait.Go(func() {
			for {
				before := Monotonic()
				_, _ = s.Do("PING") // an error is an answer: the server is killed
				if now := Monotonic(); now-before > int64(slowPing) {
					m.add(i, span{before, now})
				}
				select {
				case <-ended:
					return
				case <-time.After(pingEvery):
				}
			}
		})
	}
	return m
}

// add notes that a server was slow. Two such times with one nap between them are one time.
func (m *pings) add(server int, s span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.slow[server]
	if n := len(list); n > 0 && s.from-list[n-1].to < int64(2*pingEvery) {
		list[n-1].to = s.to
		return
	}
	m.slow[server] = append(list, s)
}

// allSlow returns the times that lie in spans of at least so many lists. The spans of one list do not overlap.
func allSlow(lists [][]span, least int) (all []span) {
	type edge struct {
		at   int64
		step int
	}
	var edges []edge
	for _, s := range slices.Concat(lists...) {
		edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), b.step-a.step) })
	n := 0
	for _, e := range edges {
		n += e.step
		switch {
		case e.step == 1 && n == least:
			all = append(all, span{e.at, e.at})
		case e.step == -1 && n == least-1:
			all[len(all)-1].to = e.at
		}
	}
	return all
}

// within returns how much of the time between two instants the spans cover. They do not overlap.
func within(spans []span, from, to int64) (d time.Duration) {
	for _, s := range spans {
		d += time.Duration(max(0, min(s.to, to)-max(s.from, from)))
	}
	return d
}
