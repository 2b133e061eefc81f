//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verify/chaos"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

const (
	ttl     = 5 * time.Second
	masters = 3
	// perShard is the number of names whose slots are in one shard at first.
	perShard = 4
	// nodeTimeout is the cluster-node-timeout. Redis has 15 s.
	nodeTimeout = 2 * time.Second
)

// plan contains the settings of a run.
type plan struct {
	system    string
	length    time.Duration // the time for which faults continue
	every     time.Duration // the time between two faults
	processes int
	faults    []string
	seed      uint64 // the seed of the faults; the times of events remain random
}

// crowd is the worker processes of a run, and what they said.
type crowd struct {
	mu    sync.Mutex
	stays []stay
	notes map[string]int
}

// hear notes a line of a worker.
func (c *crowd) hear(text string) {
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		l = line{Note: "unreadable line " + text}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Stay != nil {
		c.stays = append(c.stays, *l.Stay)
	} else {
		c.notes[l.Note]++
	}
}

// unseen returns the names that had no stay since a time.
func (c *crowd) unseen(names int, since int64) (list []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := make([]bool, names)
	for _, s := range c.stays {
		had[s.Name] = had[s.Name] || s.Enter > since
	}
	for i := range had {
		if !had[i] {
			list = append(list, i)
		}
	}
	return list
}

// run runs a system under faults. It fails the test only for an error of the harness.
func run(t testing.TB, p plan) *report {
	t.Helper()
	k, err := systemNamed(p.system)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(p.seed, 0))
	t.Logf("cluster: %s, %d processes, faults %v every %s, seed %d", p.system, p.processes, p.faults, p.every, p.seed)
	// As doctor demands. Otherwise a shard without a master stops the others, too, and their leases end.
	c := redistest.StartCluster(t, masters, 1, redistest.NodeTimeout(nodeTimeout), redistest.Args("--cluster-require-full-coverage", "no"))
	names, slots := someNames()
	settings := role{System: p.system, Addrs: c.Addrs(), Names: names, TTL: ttl, Counters: filepath.Join(t.TempDir(), "counters")}
	if k.java {
		if settings.ClassPath, err = buildRedisson(); err != nil {
			t.Fatal(err)
		}
	}
	all := &crowd{notes: map[string]int{}}
	workers := start(t, settings, p.processes, all)
	redistest.Eventually(t, time.Minute, "a first lock of each name", func() bool { return len(all.unseen(len(names), 0)) == 0 })

	began := chaos.Monotonic()
	m := &mover{cluster: c, slots: slots, rng: rand.New(rand.NewPCG(p.seed, 1))}
	n := &nemesis{t: t, cluster: c, rng: rng, mover: m}
	ctx, stop := context.WithCancel(t.Context())
	var moves sync.WaitGroup
	defer moves.Wait()
	defer stop()
	if slices.Contains(p.faults, moving) {
		moves.Go(func() { m.run(ctx) })
	}
	n.run(slices.DeleteFunc(slices.Clone(p.faults), func(f string) bool { return f == moving }), p.every, time.Now().Add(p.length))
	stop()
	moves.Wait()
	healed := chaos.Monotonic()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		left := all.unseen(len(names), healed)
		if len(left) == 0 {
			break
		}
		if time.Now().Before(end) {
			continue
		}
		for _, i := range left {
			t.Errorf("nobody got %s in the minute after the faults; %s", names[i], m.state(i))
		}
		break
	}
	ended := chaos.Monotonic()
	for _, w := range workers {
		dismiss(t, w)
	}
	file, err := openCounters(settings.Counters)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	r := &report{plan: p, strikes: n.strikes, unsettled: n.unsettled, moves: m.moves, moved: m.done, movedAgain: m.again, leftMoves: m.left, notes: all.notes, began: began, ended: ended}
	if err := r.judge(all.stays, names, file); err != nil {
		t.Fatal(err)
	}
	return r
}

// someNames returns names whose slots are spread over all slots, and these slots.
func someNames() (names []string, slots []int) {
	for i := range masters * perShard {
		slot := (2*i + 1) * redistest.Slots / (2 * masters * perShard)
		names, slots = append(names, redistest.KeyIn(slot, "lock:")), append(slots, slot)
	}
	return names, slots
}

// start starts worker processes. The kernel kills them when the test binary ends.
func start(t testing.TB, settings role, n int, all *crowd) (workers []*selfexec.Child) {
	t.Helper()
	for i := range n {
		settings.Process = i
		b, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		workers = append(workers, selfexec.Run(t, selfexec.Command([]string{roleEnv + "=" + string(b)}), all.hear))
	}
	return workers
}

// dismiss makes a worker end by itself.
func dismiss(t testing.TB, w *selfexec.Child) {
	t.Helper()
	_ = w.Stdin.Close()
	select {
	case <-w.Gone:
	case <-time.After(time.Minute):
		w.Kill()
		w.Err = fmt.Errorf("it did not end")
	}
	if w.Err != nil {
		t.Errorf("worker %d: %v", w.Cmd.Process.Pid, w.Err)
	}
}
