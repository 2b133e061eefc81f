//go:build linux

package chaos

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Plan contains the settings of a run.
type Plan struct {
	Locker  string        // the name of the locker
	For     time.Duration // the time for which faults continue
	Seed    uint64        // the seed of all choices; the times of events remain random
	Nodes   int
	Clients int
	Loops   int // the number of goroutines per client that lock
	Names   int
	Readers int // of a hundred locks, so many are shared; negative: none
	// The numbers of processes that only read and that only write. If they are set, they replace Clients and Readers.
	OnlyRead, OnlyWrite int
	TTL                 time.Duration
	Window              time.Duration
	Busy                int           // one client has so many goroutines that compute during its leases; 0: none
	Every               time.Duration // the mean time between two faults
	Kinds               []string      // nil: all kinds that Outside allows
	Untimed             bool          // the run demands no times: other work runs beside it
	Most                bool          // a fault that may hit all servers always hits at least a majority
	Outside             bool          // the run also has faults outside of the assumptions
	Pause               int           // see [Role]
	Keep                string        // the folder for the files of a failed run; "": a new folder
	Verbose             bool          // log each fault
}

// withDefaults returns p with defaults for its zero fields.
func (p Plan) withDefaults() Plan {
	or := func(i *int, v int) {
		if *i == 0 {
			*i = v
		}
	}
	if p.Locker == "" {
		p.Locker = "holdfast"
	}
	if p.apart() {
		p.Clients = p.OnlyRead + p.OnlyWrite
	}
	or(&p.Nodes, 5)
	or(&p.Clients, 20)
	or(&p.Loops, 2)
	or(&p.Names, 5)
	if p.ours() {
		or(&p.Readers, 40)
	}
	if p.TTL == 0 {
		p.TTL = 2 * time.Second
	}
	if p.Window == 0 {
		p.Window = p.TTL / 10
	}
	if p.Every == 0 {
		p.Every = 5 * time.Second
	}
	if p.Seed == 0 {
		p.Seed = rand.Uint64()
	}
	return p
}

// quarantine returns the time for which a node that forgot does not vote.
func (p Plan) quarantine() time.Duration { return p.TTL + p.Window }

// ours reports whether the run checks this module's lock, without changes.
func (p Plan) ours() bool { return p.Locker == "holdfast" || p.Locker == "kinds" }

// patience limits waits that are short on an idle machine.
const patience = 30 * time.Second

// Run runs a lock under faults and returns the result. It fails the test only for an error of the harness. The report
// describes the behaviour of the lock.
func Run(t testing.TB, p Plan) *Report {
	t.Helper()
	p = p.withDefaults()
	for _, k := range p.Kinds {
		if !slices.Contains(Kinds(), k) {
			t.Fatalf("chaos: no fault is called %q; there are: %s", k, strings.Join(Kinds(), "; "))
		}
	}
	t.Logf("chaos: %s, %d nodes, %d clients × %d, %d names, TTL %s, W %s, seed %d", p.Locker, p.Nodes, p.Clients, p.Loops, p.Names, p.TTL, p.Window, p.Seed)
	a := &arena{t: t, plan: p, dir: t.TempDir(), rng: rand.New(rand.NewPCG(p.Seed, 0)), slots: make([]*process, p.Clients), began: Monotonic()}
	a.resource = redistest.Start(t)
	a.nodes = newNodes(t, a.rng, p.Nodes, p.Window)
	t.Cleanup(func() {
		for _, c := range a.processes {
			c.kill()
		}
	})
	if p.ours() {
		a.admit()
	}
	for i := range a.slots {
		a.startClient(i)
	}
	redistest.Eventually(t, 4*patience, "a first lease of each name", func() bool { return a.leasedSince(0) })

	var servers []*redistest.Server
	for _, n := range a.nodes {
		servers = append(servers, n.server)
	}
	pinged := measure(t, servers)
	a.torment(time.Now().Add(p.For))

	a.healed = Monotonic()
	healed := a.healed
	for _, c := range a.processes {
		c.thaw()
	}
	forgot := a.forgetful()
	recovery, stalled := time.Duration(-1), time.Duration(0)
	for time.Duration(Monotonic()-healed) < patience {
		if a.leasedSince(healed) {
			recovery = time.Duration(Monotonic() - healed)
			break
		}
		const nap = 10 * time.Millisecond
		before := Monotonic()
		time.Sleep(nap)
		if late := time.Duration(Monotonic()-before) - nap; late > nap {
			stalled += late // no other process got a processor in time either
		}
	}
	if p.ours() { // first wait until the leftovers of killed clients and of old memory end by themselves
		time.Sleep(time.Duration(healed-Monotonic()) + p.quarantine())
	}
	ended := Monotonic()
	var left []string
	if p.ours() {
		left = a.part()
	}
	a.dismiss()
	time.Sleep(p.quarantine() + time.Second)

	r := &Report{Plan: p, Faults: map[string]int{}, Vain: map[string]int{}, Refusals: map[string]int{}, MisfitsRefused: map[string]int{}, MisfitsGranted: map[string]int{}, MisfitsUnsure: map[string]int{}, Recovery: recovery, Forgot: forgot, Stalled: stalled, healed: healed}
	r.Ghosts = append(left, a.ghosts()...)
	a.slow = pinged.end()
	r.Slow = within(a.slow, a.began, ended)
	r.Stalled = max(r.Stalled, within(a.slow, healed, ended))
	a.judge(r, ended)
	return r
}

// leasedSince reports whether each name was locked since the time at.
func (a *arena) leasedSince(at int64) bool {
	missing := a.names()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		p.mu.Lock()
		for i := len(p.events) - 1; i >= 0 && p.events[i].At > at; i-- {
			if e := p.events[i]; e.What == has {
				missing = slices.DeleteFunc(missing, func(n string) bool { return n == askedFor(e.Name) })
			}
		}
		p.mu.Unlock()
	}
	return len(missing) == 0
}

// dismiss makes all clients end by themselves.
func (a *arena) dismiss() {
	var wait sync.WaitGroup
	for _, p := range a.staying() {
		wait.Go(func() {
			if err := p.leave(patience); err != nil {
				a.t.Error(err)
			}
		})
	}
	wait.Wait()
}

// lists returns the final elements of each resource, by kind and name.
func (a *arena) lists() map[string]map[string]map[string]bool {
	c := redis.NewClient(&redis.Options{Addr: a.resource.Addr()})
	defer c.Close()
	lists := map[string]map[string]map[string]bool{}
	for _, kind := range []string{open_, guarded, counter} {
		lists[kind] = map[string]map[string]bool{}
		for _, name := range a.plan.locks() {
			list := register{c, kind}.list
			if kind == counter {
				list = func(context.Context, string) (map[string]bool, error) { return newCounterFile(a.dir, name).list() }
			}
			l, err := list(context.Background(), name)
			if err != nil {
				a.t.Error(err)
			}
			lists[kind][name] = l
		}
	}
	return lists
}
