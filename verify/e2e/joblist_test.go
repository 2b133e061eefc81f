package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// ticked sets the tick of n jobs, and returns it with the names.
func ticked(t *testing.T, c *holdfast.Client, n int) (names []string, tick time.Time) {
	t.Helper()
	tick = time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	for i := range n {
		names = append(names, fmt.Sprintf("job/%02d", i))
		if err := job.SetTick(t.Context(), c, names[i], tick); err != nil {
			t.Fatal(err)
		}
	}
	return names, tick
}

// The value of each job waits for a node that hangs. A list of many jobs waits a few times, and not once per job.
func TestAListOfJobsBesideANodeThatHangs(t *testing.T) {
	t.Parallel()
	const n = 60
	s := newSet(t, 3)
	c := s.ready(s.client(slackened))
	names, tick := ticked(t, c, n)
	s.servers[1].Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), n*slack/4)
	defer cancel()
	start := time.Now()
	jobs, err := job.List(ctx, c)
	t.Logf("%d jobs after %s", len(jobs), time.Since(start).Round(time.Millisecond))
	if err != nil || len(jobs) != n {
		t.Fatalf("a list with one of three nodes frozen: %d of %d jobs, %v", len(jobs), n, err)
	}
	for _, name := range names {
		if jobs[name].Tick != tick || jobs[name].State != job.Reset {
			t.Errorf("%s: %+v", name, jobs[name])
		}
	}
}

// Values that are not outcomes of jobs are left out. Those that cannot be read are reported by name, in order.
func TestAListOfJobsReportsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	const n, bad, foreign = 40, 3, 2
	s := newSet(t, 3)
	c := s.ready(s.client())
	names, _ := ticked(t, c, n)
	for _, name := range names[:foreign] {
		l := lock(t, c, name)
		if err := l.Store(t.Context(), []byte("no outcome")); err != nil {
			t.Fatal(err)
		}
		_ = l.Unlock(t.Context())
	}
	for _, name := range names[n-bad:] {
		for _, srv := range s.servers {
			srv.MustDo(t, "SET", nodescript.ValueKey(nodescript.RecordKey(name)), "spoilt")
		}
	}
	jobs, err := job.List(t.Context(), c)
	if len(jobs) != n-bad-foreign || err == nil {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	at := -1
	for _, name := range names[n-bad:] {
		next := strings.Index(err.Error(), name)
		if next <= at {
			t.Errorf("%s is not in order in: %v", name, err)
		}
		at = next
	}
}

// A list that its context ends returns no jobs.
func TestAListOfJobsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client())
	ticked(t, c, 40)
	s.servers[1].Freeze()
	why := errors.New("nobody reads the list")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*settings().NodeTimeout/2, why) // after the names, during the values
	defer cancel()
	if jobs, err := job.List(ctx, c); jobs != nil || !errors.Is(err, why) {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// A node set that is down costs only its own jobs: the list has the jobs of the other sets, and an error.
func TestAListOfJobsBesideADeadSet(t *testing.T) {
	t.Parallel()
	sets := []*set{newSet(t, 1), newSet(t, 1)}
	var all [][]node.Node
	for _, s := range sets {
		nodes, err := rueidisnode.Open(s.urls...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, nodes)
	}
	c := sets[0].client(func(c *holdfast.Config) { c.Nodes, c.Cluster = holdfast.Sharded(all...), "sets" })
	names, _ := ticked(t, c, 20)
	var alive []string
	for _, name := range names {
		if sets[1].servers[0].MustDo(t, "EXISTS", "{"+name+"}:holdfast:value") == int64(1) {
			alive = append(alive, name)
		}
	}
	sets[0].servers[0].Kill()
	jobs, err := job.List(t.Context(), c)
	if !errors.Is(err, holdfast.ErrUnavailable) {
		t.Errorf("with a dead set: %v, want ErrUnavailable", err)
	}
	if got := slices.Sorted(maps.Keys(jobs)); len(alive) == 0 || len(alive) == len(names) || !slices.Equal(got, alive) {
		t.Errorf("the list has the jobs %q, want %q", got, alive)
	}
}
