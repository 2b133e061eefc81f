package doctor

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// clusterWard is a Redis Cluster and the settings of the examination.
type clusterWard struct {
	t      testing.TB
	c      *redistest.Cluster
	url    string
	maxTTL time.Duration
}

func newClusterWard(t testing.TB, masters, replicas int, opts ...redistest.Option) *clusterWard {
	t.Helper()
	c := redistest.StartCluster(t, masters, replicas, opts...)
	return &clusterWard{t: t, c: c, url: "redis+cluster://" + strings.Join(c.Addrs(), ","), maxTTL: 20 * time.Second}
}

func (w *clusterWard) open() *holdfast.Client {
	w.t.Helper()
	nodes, err := rueidisnode.Open(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: w.maxTTL, NodeTimeout: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return client
}

func (w *clusterWard) examine(window time.Duration, only ...string) []Finding {
	w.t.Helper()
	of, err := rueidisnode.NewCluster(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	defer of.Close()
	open := func(url string) (node.Node, error) { return rueidisnode.New(url) }
	return Examine(context.Background(), Config{
		Client: w.open(), URLs: []string{w.url}, Nodes: []node.Node{of}, Cluster: of, Open: open, Guest: open,
		MaxTTL: w.maxTTL, Window: window, OlderThan: time.Hour, Rate: 1_000_000, Only: only,
	})
}

func (w *clusterWard) do(i int, args ...any) {
	w.t.Helper()
	w.c.Servers()[i].MustDo(w.t, args...)
}

// A healthy cluster has no finding that is warn or bad, and each check has a finding.
func TestAHealthyClusterHasNothingWrong(t *testing.T) {
	t.Parallel()
	w := newClusterWard(t, 3, 1)
	w.maxTTL = 5 * time.Second
	redistest.Eventually(t, time.Minute, "all shards to vote", func() bool { return Worst(w.examine(2*time.Second, "votes")) == OK })
	all := w.examine(2*time.Second, Checks...)
	for _, check := range Checks {
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == check }) {
			t.Errorf("nothing about %s", check)
		}
	}
	for _, f := range all {
		if f.Check != "latency" && f.Severity > Note || f.State == "" || f.Severity == OK && f.Fix != "" || f.Severity != OK && f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
}

// Each check fails on a cluster that is made sick for it.
func TestEachCheckFindsTheFaultOfACluster(t *testing.T) {
	t.Parallel()
	const window = 250 * time.Millisecond
	sick := []struct {
		name, check string
		want        Severity
		says        string
		fix         string // a part of the fix
		also        string // a part of the fix of the check answer; "": do not run it
		opts        []redistest.Option
		masters     int // 3 by default
		replicas    int
		with        func(w *clusterWard)
	}{
		{name: "a shard without a replica", check: "replication", want: Warn, says: "no replica: if it fails, nobody gets a lock of its 5461 hash slots", fix: "redis-cli --cluster add-node NEW:PORT 127.0.0.1:"},
		{name: "too few replicas for wait", check: "replication", want: Bad, says: "0 replicas, but a grant counts only if 1 have it (wait=1): nobody gets a lock of its 5461 hash slots", fix: "lower wait", with: func(w *clusterWard) {
			w.url += "?wait=1&wait-timeout=100ms"
		}},
		{name: "too few replicas for the server", check: "replication", want: Bad, says: "0 replicas, and min-replicas-to-write is 1: it refuses all writes", fix: "CONFIG SET min-replicas-to-write 0", with: func(w *clusterWard) {
			w.do(1, "CONFIG", "SET", "min-replicas-to-write", 1)
		}},
		{name: "a replica that is down", check: "answer", want: Warn, says: "no answer: connection refused", fix: "start the server", masters: 3, replicas: 1, with: func(w *clusterWard) {
			w.c.Servers()[3].Kill()
		}},
		{name: "a replica that lacks the user", check: "answer", want: Warn, says: "refuses this user: WRONGPASS", fix: "make it on this server, too", masters: 1, replicas: 2, with: func(w *clusterWard) {
			for i := range 2 {
				w.do(i, "ACL", "SETUSER", "one", "on", ">pw", "~*", "&*", "+@all")
			}
			w.url = strings.Replace(w.url, "://", "://one:pw@", 1)
		}},
		{name: "a replica without its master", check: "role", want: Warn, says: "without a connection to it: if it is promoted, it lacks the last writes", fix: "CONFIG SET masterauth PASSWORD", masters: 3, replicas: 1, with: func(w *clusterWard) {
			w.do(3, "CONFIG", "SET", "masteruser", "nobody", "masterauth", "wrong")
			w.do(0, "CLIENT", "KILL", "TYPE", "replica")
			redistest.Eventually(w.t, 20*time.Second, "the replica to be refused", func() bool {
				return strings.Contains(w.c.Servers()[3].MustDo(w.t, "INFO", "replication").(string), "master_link_status:down")
			})
		}},
		{name: "a master that has failed", check: "cluster", want: Bad, says: "5461 hash slots with a master that has failed: cluster-require-full-coverage is yes, so the whole cluster stops", fix: "CLUSTER FAILOVER TAKEOVER. Meanwhile the other shards work after: redis-cli --cluster call 127.0.0.1:", with: func(w *clusterWard) {
			w.c.Servers()[0].Kill()
			w.await("fail")
		}},
		{name: "a master that has failed, without full coverage", check: "cluster", want: Bad, says: "5461 hash slots with a master that has failed: nobody gets a lock of their names", fix: "start the master", with: func(w *clusterWard) {
			for i := range w.c.Servers() {
				w.do(i, "CONFIG", "SET", "cluster-require-full-coverage", "no")
			}
			w.c.Servers()[0].Kill()
			w.await("fail")
		}},
		{name: "a server that others call fail", check: "cluster", want: Bad, says: "2 of 2 servers call 127.0.0.1:", fix: "CLUSTER FORGET ", with: func(w *clusterWard) {
			w.c.Servers()[0].Kill()
			w.await("fail")
		}},
		{name: "a server that another calls fail?", check: "cluster", want: Warn, says: " fail?: it does not answer them", fix: "the port of the cluster bus", masters: 3, replicas: 1, with: func(w *clusterWard) {
			for _, s := range w.c.Servers()[1:3] { // no majority of the masters can call it fail
				s.Freeze()
			}
			w.await("fail?")
			w.c.Servers()[2].Thaw()
		}},
		{name: "hash slots without a master", check: "cluster", want: Bad, says: "2 hash slots without a master that most servers name: cluster-require-full-coverage is yes, so the whole cluster stops", fix: "redis-cli --cluster fix 127.0.0.1:", with: func(w *clusterWard) {
			for i := range w.c.Servers() {
				w.do(i, "CLUSTER", "DELSLOTS", 1, 2)
			}
		}},
		{name: "a cluster without hash slots", check: "cluster", want: Bad, says: "no server of the cluster has hash slots", fix: "redis-cli --cluster fix HOST:PORT", also: "see the check cluster", masters: 1, with: func(w *clusterWard) {
			w.do(0, "CLUSTER", "FLUSHSLOTS")
		}},
		{name: "a cluster that stops with one shard", check: "cluster", want: Note, says: "cluster-require-full-coverage is yes: if one shard fails, nobody gets any lock", fix: "CONFIG SET cluster-require-full-coverage no"},
		{name: "two clusters in one list", check: "cluster", want: Bad, says: "belong to two clusters", fix: "list servers of one cluster only", also: "see the check cluster", masters: 1, with: func(w *clusterWard) {
			w.url += "," + redistest.StartCluster(w.t, 1, 0).Addrs()[0]
		}},
		{name: "a server outside of the cluster", check: "cluster", want: Bad, says: "it is no Redis Cluster", fix: "start it with cluster-enabled yes", masters: 1, with: func(w *clusterWard) {
			w.url += "," + redistest.Start(w.t).Addr()
		}},
		{name: "an address that cannot be reached", check: "cluster", want: Bad, says: "announces the address 127.0.0.2:", fix: "CONFIG SET cluster-announce-ip", masters: 1, with: func(w *clusterWard) {
			w.do(0, "CONFIG", "SET", "cluster-announce-ip", "127.0.0.2")
			redistest.Eventually(w.t, 20*time.Second, "the address to be announced", func() bool {
				return strings.Contains(w.c.Servers()[0].MustDo(w.t, "CLUSTER", "NODES").(string), "127.0.0.2")
			})
		}},
		{name: "a cluster that is down", check: "cluster", want: Bad, says: "no server of the cluster answers: the server 127.0.0.1:", fix: "start the servers", masters: 1, with: func(w *clusterWard) {
			w.c.Servers()[0].Kill()
		}},
		{name: "a move that has stopped halfway", check: "moves", want: Warn, says: "hash slot 7 is being moved to 127.0.0.1:", fix: "redis-cli --cluster fix 127.0.0.1:", with: func(w *clusterWard) {
			if _, err := w.c.BeginMove(w.t.Context(), 7, w.c.Servers()[1]); err != nil {
				w.t.Fatal(err)
			}
		}},
		{name: "a move that only its target knows", check: "moves", want: Warn, says: "hash slot 7 is being moved from 127.0.0.1:", fix: " CLUSTER SETSLOT 7 STABLE", with: func(w *clusterWard) {
			w.do(1, "CLUSTER", "SETSLOT", 7, "IMPORTING", w.c.ID(w.c.Servers()[0]))
		}},
		{name: "a clock that is off", check: "clock", want: Bad, says: "a lease whose hash slot moves from or to this server may end too early or too late", fix: "chronyc tracking", opts: []redistest.Option{redistest.WithClock()}, with: func(w *clusterWard) {
			w.c.Servers()[1].Step(time.Second)
		}},
		{name: "a policy that evicts", check: "memory", want: Bad, says: "maxmemory-policy is allkeys-lru: the server may delete locks, so it does not vote", fix: "CONFIG SET maxmemory-policy noeviction", with: func(w *clusterWard) {
			w.do(1, "CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
		}},
		{name: "a replica whose policy evicts", check: "memory", want: Warn, says: "maxmemory-policy is allkeys-lru: if it is promoted, it may delete locks", fix: "CONFIG SET maxmemory-policy noeviction", masters: 1, replicas: 1, with: func(w *clusterWard) {
			w.do(1, "CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
		}},
		{name: "two masters", check: "count", want: Warn, says: "2 masters: if one master fails, no replica takes its place", fix: "at least three masters", masters: 2},
		{name: "a shard without a vote", check: "votes", want: Bad, says: "does not vote: connection refused", fix: "see the check answer", with: func(w *clusterWard) {
			for i := range w.c.Servers() {
				w.do(i, "CONFIG", "SET", "cluster-require-full-coverage", "no")
			}
			w.c.Servers()[0].Kill()
			w.await("fail")
		}},
		{name: "a quarantine", check: "votes", want: Warn, says: "16384 of 16384 hash slots may have forgotten locks", fix: "s; nothing shortens this", masters: 1},
		{name: "a shard in quarantine", check: "votes", want: Bad, says: "1 of 1 shard without a vote: nobody gets a lock", fix: "see the findings about these shards", masters: 1},
		{name: "other settings", check: "settings", want: Bad, says: "the node has max-ttl=20s, this client max-ttl=30s", fix: "--max-ttl=20s", masters: 1, with: func(w *clusterWard) {
			admin.Nodes(w.t.Context(), w.open())
			w.maxTTL = 30 * time.Second
		}},
		{name: "a user who may not ask for the servers", check: "cluster", want: Bad, says: "its user needs +cluster|nodes", fix: "start the servers, or mend their addresses, password", also: "on every server, replicas included: redis-cli --user ADMIN --askpass --cluster call 127.0.0.1:", masters: 1, with: func(w *clusterWard) {
			w.do(0, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-cluster")
			w.url = strings.Replace(w.url, "://", "://weak:pw@", 1)
		}},
		{name: "a user without a right", check: "acl", want: Bad, says: "the user weak lacks rights: PUBLISH holdfast:inbox:x", fix: "--user ADMIN --askpass ACL SETUSER weak '+publish'", masters: 1, with: func(w *clusterWard) {
			w.do(0, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-publish")
			w.url = strings.Replace(w.url, "://", "://weak:pw@", 1)
		}},
	}
	for i, s := range sick {
		if testing.Short() && s.masters != 1 && i%4 != 0 { // three servers or more: a sample is enough
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if s.masters == 0 {
				s.masters = 3
			}
			w := newClusterWard(t, s.masters, s.replicas, s.opts...)
			if s.with != nil {
				s.with(w)
			}
			checks := []string{s.check}
			if s.also != "" {
				checks = append(checks, "answer")
			}
			all := w.examine(window, checks...)
			if s.also != "" && !slices.ContainsFunc(all, func(f Finding) bool {
				return f.Check == "answer" && f.Severity == Bad && strings.Contains(f.Fix, s.also)
			}) {
				t.Errorf("want the fix %q; found %+v", s.also, all)
			}
			if !slices.ContainsFunc(all, func(f Finding) bool {
				return f.Check == s.check && f.Severity == s.want && strings.Contains(f.State, s.says) && f.Fix != "" && strings.Contains(f.Fix, s.fix)
			}) {
				t.Errorf("want %s: %q; found %+v", s.want, s.says, all)
			}
		})
	}
}

// The commands for redis-cli --cluster have the flags of TLS, because this takes no URL.
func TestACommandForAllServersUsesTLS(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis+cluster://h1,h2":                    "redis-cli --cluster fix h1:6379",
		"rediss+cluster://h1:1,h2:2":               "redis-cli --tls --cluster fix h1:1",
		"valkeys+cluster://:p@h1?cacert=ca.pem":    "redis-cli --tls --cacert ca.pem --askpass --cluster fix h1:6379",
		"rediss://one:p@h1:1?cert=c.pem&key=k.pem": "redis-cli --tls --cert c.pem --key k.pem --user ADMIN --askpass --cluster fix h1:1",
		"redis://h1:1":                             "redis-cli --cluster fix h1:1",
	} {
		address, _, _ := strings.Cut(url, "?") // there are no such files
		nodes, err := rueidisnode.Open(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nodes[0].Close)
		if got := (&patient{node: nodes[0], url: url}).all("fix HOST"); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// A shard whose hash slot moves while the doctor asks is not known to be without a vote.
func TestAMovingHashSlotIsNoMissingVote(t *testing.T) {
	t.Parallel()
	e := &exam{topology: &node.Topology{Shards: make([]*node.Shard, 3)}}
	e.shardVotes([]verdict.Answer{{Reason: verdict.ReasonVotes}, {Reason: verdict.ReasonServerError, Cause: node.Moved}, {Reason: verdict.ReasonVotes}})
	if Worst(e.findings) != Note {
		t.Errorf("%+v", e.findings)
	}
}

// The note about full coverage names the masters that have it, unless all have it.
func TestTheNoteAboutFullCoverageNamesTheMasters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings    []string
		full, which string
	}{
		{[]string{"yes", "", "yes"}, "yes", ""}, {[]string{"no", "no"}, "no", ""}, {[]string{"", ""}, "", ""},
		{[]string{"no", "", "yes", "yes"}, "yes", " on h2:1, h3:1"},
	} {
		e := &exam{}
		for i, s := range c.settings {
			n, err := rueidisnode.New("redis://h" + strconv.Itoa(i) + ":1") // nobody calls it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			e.patients = append(e.patients, &patient{node: n, coverage: s})
		}
		if full, which := e.fullCoverage(); full != c.full || which != c.which {
			t.Errorf("%q: %q%q", c.settings, full, which)
		}
	}
}

// await waits until the last server gives another one a state.
func (w *clusterWard) await(state string) {
	w.t.Helper()
	servers := w.c.Servers()
	redistest.Eventually(w.t, 30*time.Second, "a server to be called "+state, func() bool {
		text := servers[len(servers)-1].MustDo(w.t, "CLUSTER", "NODES").(string)
		return slices.ContainsFunc(members(text), func(m member) bool { return m.state == state })
	})
}

// The URL of a server has the user and the certificates of the URL of its cluster.
func TestTheURLOfAServerOfACluster(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[string]string{
		"redis+cluster://a,b":                       "redis://h:1",
		"redis+cluster://a,b/":                      "redis://h:1",
		"rediss+cluster://u:p%40@a,b?wait=1":        "rediss://u:p%40@h:1",
		"valkeys+cluster://:p@a?cacert=/a+b&wait=1": "valkeys://:p@h:1?cacert=%2Fa%2Bb",
	} {
		if got := serverURL(cluster, "h:1"); got != want {
			t.Errorf("%s: %s, want %s", cluster, got, want)
		}
	}
}
