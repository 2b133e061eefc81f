package e2e

import (
	"flag"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// This file contains node sets of real servers, their clients, and checks of the stored keys.

// window is W in most tests. It is small, so that quarantines and TTLs are short. It is larger than the delays of a
// busy machine.
const window = 200 * time.Millisecond

// settings returns the settings of most tests: TTL 2 s, quarantine 2.2 s. The node timeout is long. On a busy machine a
// shorter timeout would end calls to healthy nodes.
func settings() holdfast.Config {
	return holdfast.Config{MaxTTL: 2 * time.Second, Window: window, NodeTimeout: time.Second, Cluster: "test", RetryDelay: 20 * time.Millisecond, Logger: quiet}
}

var quiet = slog.New(slog.DiscardHandler)

var lock, standing = leasetest.Lock, leasetest.Standing

// set is a node set under test.
type set struct {
	t       testing.TB
	servers []*redistest.Server
	urls    []string // the URLs of the servers by default; a test may put proxies before them
	ids     sync.Map // by server, the ids of killed servers that come back as the same member

	shards *cluster // the only node is a Redis Cluster, and servers is empty; nil: there is none
	prefix string   // of the names of this test in it
}

// newSet starts n voting servers. They vote because an operator vouches for them.
func newSet(t testing.TB, n int, opts ...redistest.Option) *set {
	t.Helper()
	s := bareSet(t, n, opts...)
	s.trust()
	return s
}

// onCluster makes the sets of [plainSet] of a Redis Cluster.
var onCluster = flag.Bool("e2e.cluster", false, "tests that need one ordinary node, and do not touch it, have a Redis Cluster of three masters; tests with other node sets do not run")

// plainSet returns a set of n voting servers that the test does not touch. With -e2e.cluster the only node of a set is a
// Redis Cluster, which all tests share.
func plainSet(t testing.TB, n int) *set {
	t.Helper()
	if !*onCluster || n != 1 {
		return newSet(t, n)
	}
	c := &cluster{stillCluster().Cluster, t, true}
	return &set{t: t, shards: c, urls: []string{c.url()}, prefix: fmt.Sprintf("%d:", clusterTests.Add(1))}
}

// clusterTests counts the calls of plainSet that got a Redis Cluster.
var clusterTests atomic.Int64

// ownServers ends a test that needs servers of its own, if the tests run on a Redis Cluster.
func ownServers(t testing.TB) {
	t.Helper()
	if *onCluster {
		t.Skip("it needs servers of its own; run it without -e2e.cluster")
	}
}

// bareSet starts n servers that no client has ever admitted.
func bareSet(t testing.TB, n int, opts ...redistest.Option) *set {
	t.Helper()
	ownServers(t)
	s := &set{t: t, servers: redistest.StartN(t, n, withUsers(opts)...)}
	for _, srv := range s.servers {
		s.urls = append(s.urls, srv.URL())
	}
	t.Cleanup(s.refusals)
	return s
}

// trust makes every node vote at its first request. This is safe because the nodes have no locks.
func (s *set) trust() {
	s.t.Helper()
	for _, srv := range s.servers {
		s.votesFrom(srv, 0)
	}
}

// vouch vouches for a server with new memory. The server votes after two windows and at most a second more.
func (s *set) vouch(srv *redistest.Server) {
	s.t.Helper()
	now := srv.MustDo(s.t, "TIME").([]any)
	seconds, _ := strconv.ParseInt(now[0].(string), 10, 64)
	s.votesFrom(srv, (seconds+1)*1_000_000+2*window.Microseconds())
}

func (s *set) votesFrom(srv *redistest.Server, until int64) {
	s.t.Helper()
	info := srv.MustDo(s.t, "INFO", "server").(string)
	run := regexp.MustCompile(`run_id:(\w+)`).FindStringSubmatch(info)[1]
	args := []any{"HSET", nodescript.AdmissionKey}
	fields := nodescript.Served(run, until)
	if id, kept := s.ids.Load(srv); kept {
		fields["id"] = id.(string)
	}
	for field, value := range fields {
		args = append(args, field, value)
	}
	srv.MustDo(s.t, args...)
}

// kill kills a server, and keeps its id for its restart. With the same id and a voucher the server gets its place in
// the node set at once. With another id it would have to wait for more than MaxTTL, until no client counts its earlier
// vote.
func (s *set) kill(srv *redistest.Server) {
	s.t.Helper()
	s.ids.Store(srv, srv.MustDo(s.t, "HGET", nodescript.AdmissionKey, "id"))
	srv.Kill()
}

// flush deletes all keys of a server, and vouches for it. The server keeps its id, as in [set.kill].
func (s *set) flush(srv *redistest.Server) {
	s.t.Helper()
	s.ids.Store(srv, srv.MustDo(s.t, "HGET", nodescript.AdmissionKey, "id"))
	srv.MustDo(s.t, "FLUSHALL")
	s.vouch(srv)
}

// client opens a client on the set. change may alter the settings of the client.
func (s *set) client(change ...func(*holdfast.Config)) *holdfast.Client {
	s.t.Helper()
	cfg := settings()
	for _, f := range change {
		f(&cfg)
	}
	if s.shards != nil {
		s.inCluster(&cfg)
	}
	if cfg.Nodes == nil {
		nodes, err := rueidisnode.Open(asUser(cfg, s.urls)...)
		if err != nil {
			s.t.Fatal(err)
		}
		cfg.Nodes = nodes
	}
	c, err := holdfast.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// inCluster changes the settings of a client of the Redis Cluster. A hash slot has one configuration for good, and tests
// share slots.
func (s *set) inCluster(cfg *holdfast.Config) {
	s.t.Helper()
	cfg.Prefix = s.prefix + cfg.Prefix
	cfg.Cluster = settings().Cluster
	s.shards.settings(cfg)
	if cfg.Nodes == nil {
		nodes, err := rueidisnode.Open(s.urls...) // as the default user
		if err != nil {
			s.t.Fatal(err)
		}
		cfg.Nodes = nodes
	}
}

// n returns the number of nodes.
func (s *set) n() int {
	if s.shards != nil {
		return 1
	}
	return len(s.servers)
}

// at returns the server of node i for a name, and the name with its prefix.
func (s *set) at(i int, name string) (*redistest.Server, string) {
	if s.shards == nil {
		return s.servers[i], name
	}
	name = s.prefix + name
	return s.shards.master(name), name
}

// ready waits until every node votes for c. It does not wait for the slots of a Redis Cluster: they all vote.
func (s *set) ready(c *holdfast.Client) *holdfast.Client {
	s.t.Helper()
	if s.shards != nil {
		return c
	}
	leasetest.AllVote(s.t, c, 15*time.Second)
	return c
}

// record returns the record of a name on a node. ok is false if there is no record.
func (s *set) record(i int, name string) (r nodescript.Record, ok bool) {
	s.t.Helper()
	srv, name := s.at(i, name)
	v, err := srv.Do("GET", nodescript.RecordKey(name))
	text, isText := v.(string)
	if err != nil || !isText {
		return r, false
	}
	r, err = nodescript.ParseRecord(text)
	if err != nil {
		s.t.Fatalf("node %d: %v", i, err)
	}
	return r, true
}

// plain returns the value of a name's plain key on a node, "" if there is no plain key.
func (s *set) plain(i int, name string) string {
	srv, name := s.at(i, name)
	v, _ := srv.Do("GET", name)
	text, _ := v.(string)
	return text
}

// clean reports whether the nodes in which have no lock of name. Tombstones may stay.
func (s *set) clean(name string, which ...int) bool {
	s.t.Helper()
	for _, i := range which {
		if r, ok := s.record(i, name); ok && r.Owner != "" || s.plain(i, name) != "" {
			return false
		}
	}
	return true
}

func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// each runs f for the servers in which, all at the same time.
func (s *set) each(which []int, f func(*redistest.Server)) {
	var wait sync.WaitGroup
	for _, i := range which {
		wait.Go(func() { f(s.servers[i]) })
	}
	wait.Wait()
}

// config returns the nodes' configuration for clients with these settings.
func (s *set) config() nodescript.Config {
	c := settings()
	return nodescript.Config{N: len(s.servers), MaxTTL: c.MaxTTL, Window: c.Window, Durable: c.Durable, Cluster: c.Cluster}
}

// dial opens a node without a client.
func (s *set) dial(i int) node.Node {
	s.t.Helper()
	n, err := rueidisnode.New(s.urls[i])
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(n.Close)
	return n
}
