package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

var removals = flag.Int("holdfast.elections", 24, "how many leaders of elections are killed or resign, on each node set")

// Five processes are candidates in six elections. Leaders are killed with their process, which is started again, and
// others resign. With five nodes there are also faults of nodes, one at a time: a node is frozen, or loses its memory.
func TestLeadersAreKilledAndResign(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			machine := watchStalls(t)
			s := newSet(t, n)
			watching := s.ready(s.client())
			const processes, elections = 5, 6
			var names []string
			c := &court{reigns: map[string][]*reign{}, seen: map[string][]sight{}}
			var observers sync.WaitGroup
			for i := range elections {
				name := fmt.Sprint("e", i)
				names = append(names, name)
				observers.Go(func() {
					for o := range election.New(watching, name).Observe(t.Context()) {
						c.sees(name, o)
					}
				})
			}
			all := make([]*selfexec.Child, processes)
			for i := range all {
				all[i] = s.candidate(t, names, c.hear)
			}
			t.Cleanup(func() {
				for _, p := range all {
					p.Kill()
				}
			})
			led := func() {
				t.Helper()
				redistest.Eventually(t, 30*time.Second, "a leader in each election", func() bool {
					for _, name := range names {
						if c.leads(name) == nil {
							return false
						}
					}
					return true
				})
			}
			led()
			draw := rand.New(rand.NewPCG(uint64(n), 1))
			removed := 0
			for removed < *removals {
				mend := func() {}
				if n > 1 {
					mend = s.anyFault(draw)
				}
				for _, name := range names { // half of the leaders resign
					if r := c.leads(name); r != nil && draw.IntN(2) == 0 && c.ask(r) {
						removed++
					}
				}
				led()
				victim := c.leads(names[draw.IntN(elections)])
				if victim == nil { // it was lost by a fault
					led()
					mend()
					continue
				}
				removed += c.kills(victim.by)
				for i, p := range all {
					if p == victim.by {
						all[i] = s.candidate(t, names, c.hear)
					}
				}
				led()
				mend()
			}
			<-time.After(2 * time.Second) // the observers' last look
			watching.Close()
			observers.Wait()
			slack := min(5*machine.most(), 3*time.Second)
			kills, resigns, longest, shortest := 0, 0, time.Duration(0), time.Duration(0)
			for _, name := range names {
				k, r, afterKill, afterResign := c.judge(t, name, slack)
				kills, resigns = kills+k, resigns+r
				longest, shortest = max(longest, afterKill), max(shortest, afterResign)
			}
			t.Logf("%d kills, at most %s without a leader; %d resignations, at most %s; this process stood still for %s", kills, longest, resigns, shortest, machine.most())
			if kills == 0 || resigns == 0 || kills+resigns < *removals*3/4 {
				t.Errorf("%d kills and %d resignations of %d were judged", kills, resigns, removed)
			}
		})
	}
}

// anyFault begins a fault of one node, and returns the function that ends it.
func (s *set) anyFault(draw *rand.Rand) (mend func()) {
	srv := s.servers[draw.IntN(len(s.servers))]
	switch draw.IntN(3) {
	case 0:
		srv.Freeze()
		return srv.Thaw
	case 1:
		s.kill(srv)
		return func() { srv.Restart(); s.vouch(srv) }
	}
	return func() {}
}

// ask makes a leader resign. It reports false if its process is gone.
func (c *court) ask(r *reign) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.ended != 0 {
		return false
	}
	r.asked = true
	err := r.by.Tell("resign " + r.name)
	return err == nil
}

// kills kills a process, and returns the number of elections that it led.
func (c *court) kills(p *selfexec.Child) (n int) {
	at := time.Now().UnixNano()
	p.Kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range c.reigns {
		for _, r := range all {
			if r.by == p && r.over == 0 {
				r.killed = max(at, r.began)
				n++
			}
		}
	}
	return n
}

// After a resignation the next candidate leads within ten round trips. Each answer of a node takes 20 ms here.
func TestTheNextLeaderComesWithinTenRoundTrips(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			machine := watchStalls(t)
			s := newSet(t, n)
			const candidates = 5
			type tenure struct {
				e  *election.Election
				at time.Time
			}
			led := make(chan tenure, 100)
			for range candidates {
				net := s.network()
				net.all(func(p *redistest.Proxy) { p.DelayReplies(delay) })
				e := election.New(s.ready(s.client(patient, net.via(t, viaRueidis))), "x", election.ResignPause(0))
				campaigns(t, e, func(int64) { led <- tenure{e, time.Now()} })
			}
			s.inLine("x", candidates-1)
			s.listening(candidates - 1) // the first leader has not waited
			now := <-led
			var longest time.Duration
			for range inShort(100, 20) {
				began := time.Now()
				if err := now.e.Resign(t.Context()); err != nil {
					t.Fatal(err)
				}
				now = <-led
				took := now.at.Sub(began)
				longest = max(longest, took)
				if limit := 10*delay + 5*machine.most(); took > limit {
					t.Errorf("%s without a leader after Resign; ten round trips take %s", took, limit)
				}
			}
			t.Logf("at most %s, %.1f round trips", longest, float64(longest)/float64(delay))
		})
	}
}
