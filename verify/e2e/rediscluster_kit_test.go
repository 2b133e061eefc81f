package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has Redis Clusters of real servers, and their clients.

// cluster is a Redis Cluster under test.
type cluster struct {
	*redistest.Cluster
	t   testing.TB
	all bool // many tests use it
}

// settings are those of a client of the cluster.
func (c *cluster) settings(cfg *holdfast.Config) {
	if patient(cfg); c.all {
		forAll(cfg)
	}
}

// forAll are the settings of all clients of the cluster that many tests use. Some of these tests take long leases.
func forAll(cfg *holdfast.Config) {
	patient(cfg)
	cfg.MaxTTL = 10 * time.Minute
	cfg.NodeTimeout = 3 * time.Second // the time for which a call follows its slot, on a busy machine
}

// newCluster starts a cluster. All of its hash slots vote at their first request.
func newCluster(t testing.TB, masters, replicas int, opts ...redistest.Option) *cluster {
	t.Helper()
	c := bareCluster(t, masters, replicas, opts...)
	c.trust()
	return c
}

// bareCluster starts a cluster that no client has ever used.
func bareCluster(t testing.TB, masters, replicas int, opts ...redistest.Option) *cluster {
	t.Helper()
	return &cluster{Cluster: redistest.StartCluster(t, masters, replicas, opts...), t: t}
}

// clusterOfAll is a cluster of three masters that many tests use together. Each of them uses names of its own, and
// harms no server. Its hash slots may move. Those of stillCluster do not: after a move nobody gets a free name of the slot
// for MaxTTL, and names of two tests may have one slot.
var clusterOfAll, stillCluster = sync.OnceValue(startForAll), sync.OnceValue(startForAll)

func startForAll() *cluster {
	c := newCluster(lasting, 3, 0)
	c.all = true
	nodes, err := rueidisnode.Open(c.url())
	if err != nil {
		panic(err)
	}
	cfg := settings()
	forAll(&cfg)
	cfg.Nodes = nodes
	client, err := holdfast.New(cfg)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	redistest.Eventually(lasting, time.Minute, "all hash slots to vote", func() bool { return leasetest.Vote(context.Background(), client) })
	return c
}

// sharedCluster returns the cluster of all tests. All of their clients must have the same settings: see [cluster.client].
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{clusterOfAll().Cluster, t, true}
}

// lasting is for servers that several tests use. They live until the process ends.
var lasting = &untilTheEnd{}

type untilTheEnd struct {
	testing.TB
	cleanups []func()
}

func (*untilTheEnd) Helper()                         {}
func (*untilTheEnd) Fatal(args ...any)               { panic(fmt.Sprint(args...)) }
func (*untilTheEnd) Fatalf(format string, a ...any)  { panic(fmt.Sprintf(format, a...)) }
func (*untilTheEnd) Errorf(format string, a ...any)  { panic(fmt.Sprintf(format, a...)) }
func (*untilTheEnd) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (u *untilTheEnd) Cleanup(f func())              { u.cleanups = append(u.cleanups, f) }

// end does what the end of a test would do.
func (u *untilTheEnd) end() {
	for i := len(u.cleanups) - 1; i >= 0; i-- {
		u.cleanups[i]()
	}
}

// everySlotVotes stores in each slot that nobody has ever had a lock there.
const everySlotVotes = `for i = 2 + ARGV[1], #ARGV do redis.call('HSET', ARGV[i], unpack(ARGV, 2, 1 + ARGV[1])) end`

// trust makes every hash slot vote at its first request. This is safe because they have no locks.
func (c *cluster) trust() {
	c.t.Helper()
	var shards []redistest.Shard
	redistest.Eventually(c.t, time.Minute, "all masters to answer", func() bool {
		shards = c.Shards()
		n := 0
		for _, shard := range shards {
			n += len(shard.Slots)
		}
		return n == redistest.Slots
	})
	for _, shard := range shards {
		run := strings.TrimSpace(shard.Master.MustDo(c.t, "EVAL", `return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')`, 0).(string))
		fields := nodescript.Served(run, 0)
		fields["epoch"] = fmt.Sprintf("%016d", 0) // under which the driver of a cluster names every master
		args := []any{"EVAL", everySlotVotes, 0, 2 * len(fields)}
		for field, value := range fields {
			args = append(args, field, value)
		}
		for _, slot := range shard.Slots {
			args = append(args, nodescript.SlotGuard(slot)+":admission")
		}
		shard.Master.MustDo(c.t, args...)
	}
}

// url returns a URL with the addresses of the servers.
func (c *cluster) url(servers ...*redistest.Server) string {
	addrs := c.Addrs()
	if len(servers) > 0 {
		addrs = nil
		for _, s := range servers {
			addrs = append(addrs, s.Addr())
		}
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// client opens a client of the cluster. It has the settings of the cluster, if change does not alter them.
func (c *cluster) client(change ...func(*holdfast.Config)) *holdfast.Client {
	c.t.Helper()
	return c.clientOf(c.url(), change...)
}

// clientOf opens a client with a URL of the cluster.
func (c *cluster) clientOf(url string, change ...func(*holdfast.Config)) *holdfast.Client {
	c.t.Helper()
	nodes, err := rueidisnode.Open(url)
	if err != nil {
		c.t.Fatal(err)
	}
	s := &set{t: c.t}
	return s.client(append([]func(*holdfast.Config){c.settings, func(cfg *holdfast.Config) { cfg.Nodes = nodes }}, change...)...)
}

// names returns n names for each third of the hash slots, in turns. Each name is in a slot of its own.
func names(prefix string, n int) (list []string) {
	var parts [3][]string
	used := map[int]bool{}
	for i := 0; len(list) < 3*n; i++ {
		name := fmt.Sprint(prefix, "/", i)
		slot := redistest.Slot(name)
		if part := slot * 3 / redistest.Slots; !used[slot] && len(parts[part]) < n {
			used[slot] = true
			parts[part] = append(parts[part], name)
			list = append(list, name)
		}
	}
	for i := range list {
		list[i] = parts[i%3][i/3]
	}
	return list
}

// move moves the slots of names to a master. On a busy machine the servers may believe for a moment that the cluster is
// down: then move begins again.
func (c *cluster) move(to *redistest.Server, names ...string) {
	c.t.Helper()
	var err error
	defer func() {
		if err != nil {
			c.t.Logf("the last try: %v", err)
		}
	}()
	for _, name := range names {
		redistest.Eventually(c.t, 30*time.Second, fmt.Sprintf("the move of %q", name), func() bool {
			err = c.MoveSlot(c.t.Context(), redistest.Slot(name), to)
			return err == nil
		})
	}
}

// master returns the server that has a name now.
func (c *cluster) master(name string) *redistest.Server {
	c.t.Helper()
	var s *redistest.Server
	redistest.Eventually(c.t, 20*time.Second, fmt.Sprintf("a master of the slot of %q", name), func() bool {
		s = c.MasterOf(redistest.Slot(name))
		return s != nil
	})
	return s
}

// guards moves the guard of a name's slot, and what belongs to it, but none of its records. It leaves the slot half moved.
func (c *cluster) guards(name string, to *redistest.Server) *redistest.Move {
	c.t.Helper()
	slot := redistest.Slot(name)
	move, err := c.BeginMove(c.t.Context(), slot, to)
	if err != nil {
		c.t.Fatal(err)
	}
	_, port, _ := strings.Cut(to.Addr(), ":")
	args := []any{"MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS"}
	for _, tail := range []string{"", ":admission", ":kept", ":peers"} {
		args = append(args, nodescript.SlotGuard(slot)+tail)
	}
	move.From.MustDo(c.t, args...)
	return move
}

// finish completes a move.
func (c *cluster) finish(m *redistest.Move) {
	c.t.Helper()
	if err := m.Finish(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	redistest.Eventually(c.t, time.Minute, "the slot to have its new master", func() bool { return c.MasterOf(m.Slot) == m.To })
}

// refuses waits until the shard of a name says that it is in quarantine. It fails the test if the shard grants the name.
func (c *cluster) refuses(client *holdfast.Client, name string) verdict.Answer {
	c.t.Helper()
	var a verdict.Answer
	defer func() {
		if a.Reason != verdict.ReasonQuarantined {
			c.t.Logf("the shard says: %s", a)
		}
	}()
	redistest.Eventually(c.t, 30*time.Second, "a quarantine", func() bool {
		l, err := client.Mutex(name).TryLock(c.t.Context())
		if err == nil {
			c.t.Fatalf("a shard that may have forgotten locks granted %q with token %d", name, l.Fence())
		}
		if errors.Is(err, holdfast.ErrHeld) {
			c.t.Fatalf("a shard that may have forgotten locks votes: %v", err)
		}
		var un *holdfast.UnavailableError
		if errors.As(err, &un) {
			a = un.Nodes[0]
		}
		return a.Reason == verdict.ReasonQuarantined
	})
	return a
}

// lives fails the test if a lease has ended.
func lives(t testing.TB, leases ...*holdfast.Lease) {
	t.Helper()
	for _, l := range leases {
		if l.Context().Err() != nil {
			t.Errorf("the lease of %q ended: %v", l.Name(), context.Cause(l.Context()))
		}
	}
}

// ends waits until a lease has ended.
func ends(t testing.TB, l *holdfast.Lease) {
	t.Helper()
	select {
	case <-l.Context().Done():
	case <-time.After(20 * time.Second):
		t.Fatalf("the lease of %q does not end", l.Name())
	}
}

// renews waits until leases have been renewed from now on.
func renews(t testing.TB, leases ...*holdfast.Lease) {
	t.Helper()
	for _, l := range leases {
		before := l.Deadline()
		redistest.Eventually(t, 20*time.Second, "a renewal", func() bool { return leasetest.Renewed(l, before) || l.Context().Err() != nil })
	}
	lives(t, leases...)
}

// other returns a master that does not have a name.
func (c *cluster) other(name string) *redistest.Server {
	c.t.Helper()
	now := c.master(name)
	var other *redistest.Server
	redistest.Eventually(c.t, 20*time.Second, "another master", func() bool {
		for _, shard := range c.Shards() {
			if shard.Master != now && len(shard.Slots) > 0 {
				other = shard.Master
				return true
			}
		}
		return false
	})
	return other
}

// inLine waits until the queue of a name contains n waiters.
func (c *cluster) inLine(name string, n int64) {
	c.t.Helper()
	redistest.Eventually(c.t, time.Minute, fmt.Sprintf("%d waiters in the queue of %q", n, name), func() bool {
		s := c.MasterOf(redistest.Slot(name))
		if s == nil {
			return false
		}
		got, _ := s.Do("ZCARD", nodescript.RecordKey(name)+":queue")
		return got == n
	})
}

// line returns the labels of the waiters for a name, in the order of their places.
func (c *cluster) line(name string) (labels []string) {
	c.t.Helper()
	owners, _ := c.master(name).MustDo(c.t, "ZRANGE", nodescript.RecordKey(name)+":queue", 0, -1).([]any)
	for _, o := range owners {
		label, _, _ := strings.Cut(o.(string), "~")
		labels = append(labels, label)
	}
	return labels
}

// hears waits until the clients that wait for a name listen to the server that has it now, and have their places in its
// queue. Without that, the server cannot hand the name on to them.
func (c *cluster) hears(name string, n int) {
	c.t.Helper()
	redistest.Eventually(c.t, 20*time.Second, "the waiters to listen to the new shard", func() bool {
		s := c.master(name)
		owners, _ := s.MustDo(c.t, "ZRANGE", nodescript.RecordKey(name)+":queue", 0, -1).([]any)
		for _, o := range owners {
			listeners, _ := s.MustDo(c.t, "PUBSUB", "NUMSUB", "holdfast:inbox:"+nodescript.ClientOf(o.(string))).([]any)
			if len(listeners) != 2 || listeners[1] != int64(1) {
				return false
			}
		}
		return len(owners) == n
	})
}

// clusterClient opens a client of a cluster that another kit has started.
func clusterClient(t testing.TB, c *redistest.Cluster, change ...func(*holdfast.Config)) *holdfast.Client {
	t.Helper()
	return (&cluster{Cluster: c, t: t}).client(change...)
}
