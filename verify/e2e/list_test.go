package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

var manyListed = flag.Int("holdfast.listed", 2000, "how many names TestAListIsCompleteWhileNamesComeAndGo lists")

// steady gives a client leases that need few renewals.
func steady(c *holdfast.Config) { c.MaxTTL, c.TTL = 5*time.Minute, 5*time.Minute }

// fast lets a list of a test send as many requests as it wants.
const fast = 1_000_000_000

// listed returns the items of a list, by name and slot. An item that comes twice fails the test.
func listed(t testing.TB, c *holdfast.Client, o admin.ListOptions) map[string]*admin.NameStatus {
	t.Helper()
	items := map[string]*admin.NameStatus{}
	for s, err := range admin.List(t.Context(), c, o) {
		if err != nil {
			t.Fatal(err)
		}
		key := itemName(s)
		if items[key] != nil {
			t.Errorf("%s is listed twice", key)
		}
		items[key] = s
	}
	return items
}

func itemName(s *admin.NameStatus) string {
	if s.Slot < 0 {
		return s.Name
	}
	return fmt.Sprintf("%s#%d", s.Name, s.Slot)
}

func owners(s *holdfast.Status) (list []string) {
	for _, h := range s.Holders {
		list = append(list, h.Owner)
	}
	return list
}

// Thousands of names are held, while other clients take and release other names. The list has each held name exactly
// once, with its holder, and its memory does not grow with the names. The test is not parallel, because it measures
// memory.
func TestAListIsCompleteWhileNamesComeAndGo(t *testing.T) {
	s := newSet(t, 5)
	holder, churner, looker := s.ready(s.client(steady)), s.client(steady), s.ready(s.client(steady))
	n := *manyListed
	wanted := make([]string, n) // by number, the owner
	concurrently(n, 64, func(i int) {
		l, err := holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background())
		for ; errors.Is(err, holdfast.ErrUnavailable); l, err = holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background()) {
		}
		if err != nil {
			t.Errorf("held/%d: %v", i, err)
			return
		}
		wanted[i] = l.Owner()
	})
	if t.Failed() {
		return
	}
	churning, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	var churned atomic.Int64
	for g := range 4 {
		wait.Go(func() {
			for i := 0; churning.Err() == nil; i++ {
				if l, err := churner.Mutex(fmt.Sprintf("churn/%d/%d", g, i%200)).TryLock(churning); err == nil {
					_ = l.Unlock(context.Background())
					churned.Add(1)
				}
			}
		})
	}
	before, most, seen, others := live(), int64(0), make([]int, n), 0
	began, at := time.Now(), 0
	for item, err := range admin.List(t.Context(), looker, admin.ListOptions{Rate: fast}) {
		if err != nil {
			t.Fatal(err)
		}
		var i int
		if k, _ := fmt.Sscanf(item.Name, "held/%d", &i); k == 0 {
			others++
			continue
		}
		seen[i]++
		if got := owners(&item.Status); !item.Known || !item.Held || item.Kind != admin.KindLock || !slices.Equal(got, []string{wanted[i]}) {
			t.Errorf("%s: held %t by %q, want %q: %v", item.Name, item.Held, got, wanted[i], item.Nodes)
		}
		if at++; at%(n/4) == 0 {
			most = max(most, live()-before)
		}
	}
	took := time.Since(began)
	stop()
	wait.Wait()
	for i, k := range seen {
		if k != 1 {
			t.Errorf("held/%d is listed %d times", i, k)
		}
	}
	if churned.Load() == 0 {
		t.Error("no name came or went")
	}
	t.Logf("%d names and %d others in %v; %d came and went; at most %d KiB more heap", n, others, took.Round(time.Millisecond), churned.Load(), most>>10)
	if most > 16<<20 {
		t.Errorf("%d MiB more heap in a list of %d names", most>>20, n)
	}
}

// A list has the kind, the holders and the waiters of each name.
func TestAListSaysWhoHasAndWhoWaits(t *testing.T) {
	t.Parallel()
	sizes(t, func(t *testing.T, n int) {
		s := plainSet(t, n)
		c, other := s.ready(s.client(steady)), s.client(steady)
		exclusive, free := lock(t, c, "a{tag}b"), lock(t, c, "free")
		if err := free.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		var shared []string
		for range 2 {
			l, err := s.client(steady).Mutex("shared\xff\n").RLock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			shared = append(shared, l.Owner())
		}
		sem := map[int]string{}
		for range 2 {
			l, err := c.Semaphore("sem", 8).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sem[l.Slot()] = l.Owner()
		}
		leading := make(chan election.Term)
		wait, end := t.Context(), make(chan struct{})
		go func() {
			_ = election.New(c, "leader").Run(wait, func(ctx context.Context, term election.Term) error {
				if err := term.Publish(ctx, []byte("10.0.0.1")); err != nil {
					t.Error(err)
				}
				leading <- term
				<-end
				return errors.New("over")
			})
		}()
		term := <-leading
		defer close(end)
		running := make(chan struct{})
		go func() {
			_, _ = job.Once(wait, c, "job", time.Now(), func(ctx context.Context, _ job.Tick) error {
				close(running)
				<-end
				return nil
			})
		}()
		<-running
		waiting, giveUp := context.WithCancel(t.Context())
		var waiters sync.WaitGroup
		defer func() { giveUp(); waiters.Wait() }()
		for i := range 2 {
			waiters.Go(func() { _, _ = s.client(steady).Mutex("a{tag}b").Lock(waiting) })
			s.inLine("a{tag}b", i+1)
		}
		got := listed(t, other, admin.ListOptions{})
		want := map[string]admin.Kind{
			"a{tag}b": admin.KindLock, "shared\xff\n": admin.KindShared, "leader": admin.KindElection, "job": admin.KindJob,
		}
		for slot := range sem {
			want[fmt.Sprintf("sem#%d", slot)] = admin.KindSemaphore
		}
		if !maps.EqualFunc(want, got, func(k admin.Kind, s *admin.NameStatus) bool { return s.Kind == k && s.Known && s.Held }) {
			for name, s := range got {
				t.Errorf("listed %q as %s: known %t, held %t, %v", name, s.Kind, s.Known, s.Held, s.Nodes)
			}
			t.Fatalf("want %v", want)
		}
		if a := got["a{tag}b"]; a.Holder().Owner != exclusive.Owner() || a.Holder().Fence != exclusive.Fence() || a.Waiters != 2 ||
			a.WaitingSince.Before(a.Holder().Since) || time.Since(a.WaitingSince) > time.Minute || a.Differ {
			t.Errorf("the exclusive lock: %+v", a)
		}
		if r := got["shared\xff\n"]; r.Readers != 2 || !slices.Equal(slices.Sorted(slices.Values(owners(&r.Status))), slices.Sorted(slices.Values(shared))) {
			t.Errorf("the shared lock: %+v", r)
		}
		for slot, owner := range sem {
			if one := got[fmt.Sprintf("sem#%d", slot)]; one.Holder().Owner != owner || one.Holder().Slot != slot {
				t.Errorf("slot %d: %+v", slot, one)
			}
		}
		if l := got["leader"]; l.Holder().Fence != term.Fence {
			t.Errorf("the leader: %+v", l)
		}
		for what, o := range map[string]struct {
			options admin.ListOptions
			want    []string
		}{
			"by pattern":          {admin.ListOptions{Pattern: "*{tag}?"}, []string{"a{tag}b"}},
			"by a set of bytes":   {admin.ListOptions{Pattern: "[^a-k]ea*"}, []string{"leader"}},
			"by an escaped byte":  {admin.ListOptions{Pattern: `\a*`}, []string{"a{tag}b"}},
			"by kind":             {admin.ListOptions{Kind: admin.KindShared}, []string{"shared\xff\n"}},
			"who waits":           {admin.ListOptions{Waiting: true}, []string{"a{tag}b"}},
			"older than an hour":  {admin.ListOptions{OlderThan: time.Hour}, nil},
			"older than a moment": {admin.ListOptions{OlderThan: time.Microsecond, Kind: admin.KindJob}, []string{"job"}},
			"free names":          {admin.ListOptions{Pattern: "free", Free: true}, []string{"free"}},
		} {
			if got := slices.Sorted(maps.Keys(listed(t, other, o.options))); !slices.Equal(got, o.want) {
				t.Errorf("%s: %q, want %q", what, got, o.want)
			}
		}
		prefixed := listed(t, s.client(steady, func(c *holdfast.Config) { c.Prefix = "lea" }), admin.ListOptions{})
		if len(prefixed) != 1 || prefixed["der"] == nil {
			t.Errorf("with a prefix: %v", prefixed)
		}
	})
}

// onScan is a node that calls before when it is first asked for its keys.
type onScan struct {
	node.Node
	before func()
	once   sync.Once
}

func (c *onScan) Do(ctx context.Context, command ...string) node.Reply {
	if len(command) > 1 && command[1] == nodescript.ScanText() {
		c.once.Do(c.before)
	}
	return c.Node.(node.Commander).Do(ctx, command...)
}

// whenScanning returns a client that calls f before it first scans the keys of node i.
func (s *set) whenScanning(i int, f func()) *holdfast.Client {
	s.t.Helper()
	nodes, err := rueidisnode.Open(s.urls...)
	if err != nil {
		s.t.Fatal(err)
	}
	nodes[i] = &onScan{Node: nodes[i], before: f}
	return s.ready(s.client(steady, func(c *holdfast.Config) { c.Nodes = nodes }))
}

// only moves the records of a name to the nodes which, and returns a function that gives one to another node, as a
// renewal does.
func (s *set) only(name string, which ...int) (repair func(i int)) {
	s.t.Helper()
	key := nodescript.RecordKey(name)
	redistest.Eventually(s.t, 10*time.Second, "all nodes to have the lock", func() bool {
		for i := range s.servers {
			if _, ok := s.record(i, name); !ok {
				return false
			}
		}
		return true
	})
	record := s.servers[which[0]].MustDo(s.t, "GET", key)
	for i, srv := range s.servers {
		if !slices.Contains(which, i) {
			srv.MustDo(s.t, "DEL", key, name)
		}
	}
	return func(i int) { s.servers[i].MustDo(s.t, "SET", key, record, "PX", 60_000) }
}

// A renewal stores a lease on a node that the list has already read, or on one that it reads later. The list has the
// name once.
func TestAListHasANameThatReachesAnotherNodeMeanwhile(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ has, gets, at int }{
		"an earlier node": {2, 0, 1},
		"a later node":    {0, 4, 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			lease := lock(t, s.ready(s.client(steady)), "x")
			repair := s.only("x", c.has, c.has+1, c.has+2)
			got := listed(t, s.whenScanning(c.at, func() { repair(c.gets) }), admin.ListOptions{Rate: fast})
			if x := got["x"]; len(got) != 1 || x == nil || !x.Held || x.Holder().Owner != lease.Owner() {
				t.Errorf("listed %v, want x", got)
			}
		})
	}
}

// A node to which the list has left its names loses its memory, or dies. The list has all names nevertheless.
func TestAListIsCompleteAlthoughANodeForgets(t *testing.T) {
	t.Parallel()
	for what, lose := range map[string]func(*redistest.Server){
		"its keys are deleted": func(s *redistest.Server) { _, _ = s.Do("FLUSHALL") },
		"it is killed":         (*redistest.Server).Kill,
		"it restarts":          (*redistest.Server).Restart,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 5)
			c := s.ready(s.client(steady))
			for i := range 50 {
				lock(t, c, fmt.Sprint("x", i))
			}
			got := listed(t, s.whenScanning(4, func() { lose(s.servers[4]) }), admin.ListOptions{Rate: fast})
			if len(got) != 50 {
				t.Errorf("%d names, want 50", len(got))
			}
			for name, x := range got {
				if !x.Held {
					t.Errorf("%s is not held: %v", name, x.Nodes)
				}
			}
		})
	}
}

// A name that a minority names is listed, and it is not held. The answers of the nodes differ.
func TestAListSaysWhereNodesDiffer(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5)
	lock(t, s.ready(s.client(steady)), "x")
	s.only("x", 1, 3)
	x := listed(t, s.ready(s.client(steady)), admin.ListOptions{})["x"]
	if x == nil || x.Held || !x.Known || !x.Differ || !x.Nodes[1].Held() || x.Nodes[0].Held() {
		t.Errorf("%+v", x)
	}
}

func TestAListNeedsAMajority(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c := s.ready(s.client(steady))
	lock(t, c, "x")
	s.servers[2].Kill()
	if x := listed(t, c, admin.ListOptions{})["x"]; x == nil || !x.Held {
		t.Errorf("with a dead minority: %+v", x)
	}
	s.servers[1].Kill()
	var un *holdfast.UnavailableError
	for x, err := range admin.List(t.Context(), c, admin.ListOptions{}) {
		if !errors.As(err, &un) || len(un.Nodes) != 3 {
			t.Errorf("%v, %v; want no quorum", x, err)
		}
	}
	if un == nil {
		t.Error("no error")
	}
}

func TestBadOptionsOfAList(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c := s.client()
	for want, o := range map[string]admin.ListOptions{
		"Rate is 3 requests per second; it must be at least 10":                                      {Rate: 3},
		"OlderThan is -1s; it must be 0 or more":                                                     {OlderThan: -time.Second},
		`Kind is "x"; it must be lock, shared, semaphore, election or job`:                           {Kind: "x"},
		`Pattern is "a[": the [ at byte 2 begins no set such as [abc]; write \[ for the byte itself`: {Pattern: "a["},
		`Pattern is "a\\": it ends with a \; write \\ for the byte itself`:                           {Pattern: `a\`},
		`Pattern is "[z-a]": a set in [] is not valid`:                                               {Pattern: "[z-a]"},
	} {
		n := 0
		for _, err := range admin.List(t.Context(), c, o) {
			n++
			var bad *holdfast.ConfigError
			if !errors.As(err, &bad) || err.Error() != "holdfast: list: "+want {
				t.Errorf("%+v: %v; want %q", o, err, want)
			}
		}
		if n != 1 {
			t.Errorf("%+v: %d results", o, n)
		}
	}
}
