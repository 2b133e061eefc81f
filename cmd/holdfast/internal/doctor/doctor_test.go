package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// ward is a node set and the settings of the examination.
type ward struct {
	t       testing.TB
	servers []*redistest.Server
	urls    []string
	client  holdfast.Config
	config  Config
}

func newWard(t testing.TB, n int, opts ...redistest.Option) *ward {
	t.Helper()
	w := &ward{t: t, servers: redistest.StartN(t, n, opts...)}
	for _, s := range w.servers {
		w.urls = append(w.urls, s.URL())
	}
	w.client = holdfast.Config{MaxTTL: 20 * time.Second, Cluster: "ward", NodeTimeout: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	return w
}

// open returns a client of the set, which votes for it.
func (w *ward) open() *holdfast.Client {
	w.t.Helper()
	c := w.client
	c.Nodes = w.nodes(w.urls)
	client, err := holdfast.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return client
}

func (w *ward) nodes(urls []string) []node.Node {
	w.t.Helper()
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		w.t.Fatal(err)
	}
	return nodes
}

// vote makes all nodes vote.
func (w *ward) vote() *holdfast.Client {
	w.t.Helper()
	c := w.open()
	admin.Trust(w.t.Context(), c)
	leasetest.AllVote(w.t, c, 20*time.Second)
	return c
}

func (w *ward) examine(only ...string) []Finding {
	w.t.Helper()
	c := w.config
	c.Client, c.URLs, c.Nodes, c.Only, c.MaxTTL = w.open(), w.urls, w.nodes(w.urls), only, w.client.MaxTTL
	defer func() {
		for _, n := range c.Nodes {
			n.Close()
		}
	}()
	for _, s := range w.servers {
		n, err := rueidisnode.New(s.URL())
		if err != nil {
			w.t.Fatal(err)
		}
		defer n.Close()
		c.Anonymous = append(c.Anonymous, n)
	}
	if c.Window == 0 {
		c.Window = 250 * time.Millisecond
	}
	if c.OlderThan == 0 {
		c.OlderThan = time.Hour
	}
	c.Rate = 1_000_000
	return Examine(context.Background(), c)
}

// do runs a command on a server.
func (w *ward) do(i int, args ...any) {
	w.t.Helper()
	w.servers[i].MustDo(w.t, args...)
}

// slowest returns the time of the slowest command in a server's slowlog.
func (w *ward) slowest(i int) (most time.Duration) {
	w.t.Helper()
	for _, entry := range w.servers[i].MustDo(w.t, "SLOWLOG", "GET", "128").([]any) {
		most = max(most, time.Duration(entry.([]any)[2].(int64))*time.Microsecond)
	}
	return most
}

// A healthy set has no finding that is warn or bad, and each check has a finding.
func TestAHealthySetHasNothingWrong(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.config.Window = 2 * time.Second // a busy machine is no fault
	w.client.Window, w.client.TTL = 2*time.Second, 20*time.Second
	c := w.vote()
	l := leasetest.Lock(t, c, "x")
	defer l.Unlock(context.Background())
	all := w.examine()
	for _, check := range Checks {
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == check }) {
			t.Errorf("nothing about %s", check)
		}
	}
	for _, f := range all {
		if f.Severity > Note || f.State == "" || f.Severity == OK && f.Fix != "" || f.Severity != OK && f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
}

// Each check fails on a server that is made sick for it.
func TestEachCheckFindsItsFault(t *testing.T) {
	t.Parallel()
	sick := []struct {
		name, check string
		want        Severity
		says        string
		fix         string // a part of the fix
		opts        []redistest.Option
		nodes       int // 3 by default
		with        func(w *ward)
	}{
		{name: "a dead server", check: "answer", want: Bad, says: "no answer: connection refused", with: func(w *ward) { w.servers[1].Kill() }},
		{name: "a frozen server", check: "answer", want: Bad, says: "accepts connections, but does not answer: timed out", with: func(w *ward) { w.servers[1].Freeze() }},
		{name: "a user without EVAL", check: "answer", want: Bad, says: "refuses the user default: NOPERM", with: func(w *ward) {
			w.do(1, "ACL", "SETUSER", "default", "-eval")
		}},
		{name: "a missing password", check: "answer", want: Bad, says: "refuses this user: ", with: func(w *ward) { w.do(1, "CONFIG", "SET", "requirepass", "secret") }},
		{name: "a load balancer", check: "address", want: Bad, says: "8 new connections lead to 2 servers in turns", fix: "the address of one server", with: func(w *ward) {
			p := redistest.NewProxy(w.t, w.servers[1].Addr())
			p.Balance(redistest.Start(w.t).Addr())
			w.urls[1] = p.URL()
		}},
		{name: "a far server", check: "round-trip", want: Bad, says: "calls come later than a window", with: func(w *ward) { w.config.Window = time.Microsecond }},
		{name: "a slow way", check: "round-trip", want: Warn, says: "more than a quarter of a window", with: func(w *ward) {
			w.config.Window = 300 * time.Millisecond
			p := redistest.NewProxy(w.t, w.servers[1].Addr())
			p.DelayReplies(100 * time.Millisecond)
			w.urls[1] = p.URL()
		}},
		{name: "a replica", check: "role", want: Bad, says: "is a replica of 127.0.0.1:", fix: "list its master, 127.0.0.1:", with: func(w *ward) {
			w.replicate(1, 2)
			w.urls = w.urls[:2]
		}},
		{name: "a replica that becomes a node", check: "role", want: Bad, says: "is a replica of 127.0.0.1:", fix: "REPLICAOF NO ONE; the server has no configuration file: also leave replicaof out where you start it; " +
			"a quarantine follows: this node then does not vote for 20.25s", with: func(w *ward) {
			w.replicate(1, 2)
			w.urls = w.urls[:2]
		}},
		{name: "a replica of another node", check: "role", want: Bad, says: ", which is also a node of this list; it does not vote, ", fix: "this node then does not vote for 20.25s", with: func(w *ward) {
			w.do(1, "REPLICAOF", "127.0.0.1", w.servers[0].Port()) // maybe without a copy of the data yet
		}},
		{name: "a replica of a node with another address", check: "role", want: Bad, says: ", which is also a node of this list; ", with: func(w *ward) {
			w.urls[0] = strings.Replace(w.urls[0], "127.0.0.1", "localhost", 1)
			w.replicate(1, 0)
		}},
		{name: "a master with a replica", check: "replication", want: Note, says: "1 replica, without a vote", fix: "nothing, if nobody promotes them", with: func(w *ward) {
			w.replicate(2, 0)
			w.urls = w.urls[:2]
		}},
		{name: "a master with a replica that is a node, too", check: "replication", want: Note, says: "it does not vote, so at most 2 of 3 nodes vote", fix: "see the check role of redis://127.0.0.1:", with: func(w *ward) {
			w.replicate(1, 0)
		}},
		{name: "no AOF in a durable set", check: "persistence", want: Bad, says: "no AOF, and the set is declared durable", with: func(w *ward) { w.config.Durable = true }},
		{name: "a lax AOF in a durable set", check: "persistence", want: Bad, says: "appendfsync is everysec", opts: []redistest.Option{redistest.Durable()}, with: func(w *ward) {
			w.config.Durable = true
			w.do(1, "CONFIG", "SET", "appendfsync", "everysec")
		}},
		{name: "an AOF that rests", check: "persistence", want: Bad, says: "no-appendfsync-on-rewrite is yes", opts: []redistest.Option{redistest.Durable()}, with: func(w *ward) {
			w.config.Durable = true
			w.do(1, "CONFIG", "SET", "no-appendfsync-on-rewrite", "yes")
		}},
		{name: "one node", nodes: 1, check: "persistence", want: Note, says: "every restart ends all locks"},
		{name: "a policy that evicts", check: "memory", want: Bad, says: "maxmemory-policy is allkeys-lru", fix: "this node then does not vote for 20.25s", with: func(w *ward) {
			w.do(1, "CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru")
		}},
		{name: "a full memory", check: "memory", want: Bad, says: "it refuses new locks (OOM)", fix: "CONFIG SET maxmemory 6", with: func(w *ward) { // at least 64mb
			w.do(1, "CONFIG", "SET", "maxmemory", "500kb")
		}},
		{name: "a full memory has no vote", check: "votes", want: Bad, says: "does not vote: its memory is full (OOM)", with: func(w *ward) {
			w.vote()
			w.do(1, "CONFIG", "SET", "maxmemory", "500kb")
		}},
		{name: "nearly full memory", check: "memory", want: Warn, says: "a full server refuses new locks", fix: "CONFIG SET maxmemory 1", with: func(w *ward) { // about twice of what is used: 130mb
			w.do(1, "SETRANGE", "big", 56<<20, "x")
			var used int64
			_, _ = fmt.Sscanf(strings.SplitAfter(w.servers[1].MustDo(w.t, "INFO", "memory").(string), "used_memory:")[1], "%d", &used)
			w.do(1, "CONFIG", "SET", "maxmemory", used/100*105)
		}},
		{name: "evicted keys", check: "evictions", want: Warn, says: "keys were evicted", fix: "It is noeviction now, ", with: func(w *ward) {
			w.do(1, "CONFIG", "SET", "maxmemory", "3mb", "maxmemory-policy", "allkeys-random")
			for i := range 64 {
				w.do(1, "SET", i, strings.Repeat("x", 64<<10))
			}
			w.do(1, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
		}},
		{name: "a slow command", check: "latency", want: Warn, says: "in the last hour, the longest took", with: func(w *ward) {
			for n := 1_000_000; w.slowest(1) < 100*time.Millisecond; n *= 2 { // how long it takes depends on the machine
				w.do(1, "EVAL", "local n, most = 0, tonumber(ARGV[1]) while n < most do n = n + 1 end return n", 0, n)
			}
		}},
		{name: "a wrong clock", check: "clock", want: Bad, says: "more than a window", opts: []redistest.Option{redistest.WithClock()}, with: func(w *ward) { w.servers[1].Step(time.Second) }},
		{name: "a clock at the edge", check: "clock", want: Warn, says: "more than half a window", opts: []redistest.Option{redistest.WithClock()}, with: func(w *ward) {
			w.config.Window = 20 * time.Second
			w.servers[1].Step(14 * time.Second)
		}},
		{name: "a clock that runs too fast", check: "drift", want: Warn, says: "runs at another speed", opts: []redistest.Option{redistest.WithClock()}, with: func(w *ward) {
			w.servers[1].Rate(1.2)
		}},
		{name: "one server twice", check: "members", want: Bad, says: "same server", with: func(w *ward) { w.urls[1] = strings.Replace(w.urls[0], "127.0.0.1", "localhost", 1) }},
		{name: "one machine", check: "hosts", want: Note, says: "3 nodes are on this machine"},
		{name: "two nodes", nodes: 2, check: "count", want: Warn, says: "2 nodes bear the loss of 0, and one node less would bear the same", with: func(w *ward) { w.vote() }},
		{name: "another protocol", check: "protocol", want: Bad, says: "protocol=", with: func(w *ward) { w.other("protocol=") }},
		{name: "other settings", check: "settings", want: Bad, says: "max-ttl=", with: func(w *ward) {
			w.vote()
			w.client.MaxTTL = 30 * time.Second
		}},
		{name: "a quarantine", check: "votes", want: Warn, says: "quarantined", with: func(w *ward) {
			w.vote()
			w.do(1, "FLUSHALL")
			admin.Nodes(w.t.Context(), w.open())
		}},
		{name: "no quorum", check: "votes", want: Bad, says: "so nobody gets a lock", with: func(w *ward) {
			for i := range w.servers {
				w.do(i, "FLUSHALL")
			}
			admin.Nodes(w.t.Context(), w.open())
		}},
		{name: "a user without rights", check: "acl", want: Bad, says: "lacks rights: PUBLISH holdfast:inbox:x", with: func(w *ward) {
			w.do(1, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-publish")
			w.urls[1] = strings.Replace(w.urls[1], "redis://", "redis://weak:pw@", 1)
		}},
		{name: "a user without rights, in an ACL file", check: "acl", want: Bad, says: "lacks rights: PUBLISH holdfast:inbox:x", fix: "ACL SAVE",
			opts: []redistest.Option{redistest.Args("--aclfile", "/dev/null")}, with: func(w *ward) {
				w.do(1, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-publish")
				w.urls[1] = strings.Replace(w.urls[1], "redis://", "redis://weak:pw@", 1)
			}},
		{name: "a user without channels", check: "acl", want: Bad, says: "SUBSCRIBE holdfast:inbox:x", with: func(w *ward) {
			w.do(1, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "+@all", "resetchannels")
			w.urls[1] = strings.Replace(w.urls[1], "redis://", "redis://weak:pw@", 1)
		}},
		{name: "a user without WAIT, with wait in the URL", check: "acl", want: Bad, says: "lacks rights: WAIT 1", with: func(w *ward) {
			w.do(1, "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-wait")
			w.urls[1] = strings.Replace(w.urls[1], "redis://", "redis://weak:pw@", 1) + "?replicated=true&wait=1"
		}},
		{name: "rights that nobody may look at", check: "acl", want: Note, says: "not known", with: func(w *ward) {
			w.do(1, "ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-acl")
			w.urls[1] = strings.Replace(w.urls[1], "redis://", "redis://blind:pw@", 1)
		}},
		{name: "no password", check: "default-user", want: Note, says: "lets anybody in"},
		{name: "a foreign key", check: "foreign", want: Warn, says: `"x": the plain key has a value of another program on 3 nodes ("alien"; it has no expiry)`, with: func(w *ward) {
			w.free("x")
			for i := range w.servers {
				w.do(i, "SET", "x", "alien")
			}
		}},
		{name: "a corrupt record", check: "corrupt", want: Bad, says: `"x": the key {x}:holdfast does not hold a record`, with: func(w *ward) {
			w.free("x")
			w.do(1, "SET", nodescript.RecordKey("x"), "nonsense")
		}},
		{name: "a lock and a semaphore with one name", check: "kinds", want: Warn, says: `"x": a lock and a semaphore have this name`, with: func(w *ward) {
			w.free("x")
			if _, err := w.vote().Semaphore("x", 3).Acquire(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}},
		{name: "a stuck lock", check: "stuck", want: Warn, says: `"x": held by `, with: func(w *ward) {
			if _, err := w.vote().Mutex("x").Lock(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			w.config.OlderThan = time.Microsecond
		}},
		{name: "a leader that changes all the time", check: "leaders", want: Warn, says: `"x": the leader changes all the time`, fix: "holdfast status x", with: func(w *ward) {
			<-w.campaign("x", short)
		}},
		{name: "a job that failed", check: "jobs", want: Warn, says: `"x": its last run failed on `, fix: "holdfast jobs --history x; ", with: func(w *ward) {
			w.job("x", errors.New("exit status 3"))
		}},
	}
	tested := map[string]bool{"version": true, "tls": true} // see the next test
	tested["cluster"], tested["moves"] = true, true         // TestEachCheckFindsTheFaultOfACluster
	for _, s := range sick {
		tested[s.check] = true
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			n := 3
			if s.nodes > 0 {
				n = s.nodes
			}
			w := newWard(t, n, s.opts...)
			if s.with != nil {
				s.with(w)
			}
			all := w.examine(s.check)
			if !slices.ContainsFunc(all, func(f Finding) bool {
				return f.Check == s.check && f.Severity == s.want && strings.Contains(f.State, s.says) && f.Fix != "" && strings.Contains(f.Fix, s.fix)
			}) {
				t.Errorf("want %s: %q; found %+v", s.want, s.says, all)
			}
		})
	}
	for _, check := range Checks {
		if !tested[check] {
			t.Errorf("no test makes the check %s fail", check)
		}
	}
}

// replicate makes server i a replica of server j, and returns when it has a copy of the data.
func (w *ward) replicate(i, j int) {
	w.t.Helper()
	w.do(j, "CONFIG", "SET", "repl-diskless-sync-delay", 0)
	w.do(i, "REPLICAOF", "127.0.0.1", w.servers[j].Port())
	redistest.Eventually(w.t, 20*time.Second, "the replica to have the data", func() bool {
		return strings.Contains(w.servers[i].MustDo(w.t, "INFO", "replication").(string), "master_link_status:up")
	})
}

// free makes a name known to the nodes, and free.
func (w *ward) free(name string) {
	w.t.Helper()
	l, err := w.vote().Mutex(name).Lock(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := l.Unlock(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// other gives the nodes the configuration of a client of another protocol.
func (w *ward) other(setting string) {
	w.t.Helper()
	w.vote()
	for i, s := range w.servers {
		config := s.MustDo(w.t, "HGET", nodescript.AdmissionKey, "config").(string)
		w.do(i, "HSET", nodescript.AdmissionKey, "config", strings.Replace(config, setting, setting+"9", 1))
		w.do(i, "DEL", nodescript.GuardKey)
	}
}

// No test server is so old, and none has another address than loopback.
func TestVersionsAndAddresses(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]Severity{"6.2.14": Bad, "7.0.15": OK, "8.2.0": OK, "": Bad, "x": Bad} {
		e := &exam{}
		p := &patient{exam: e, node: anyNode{}, info: map[string]string{"redis_version": version}}
		if p.version(); Worst(e.findings) != want {
			t.Errorf("Redis %q: %+v", version, e.findings)
		}
	}
	for url, want := range map[string]Severity{
		"redis://10.0.0.1": Warn, "redis://u:pw@db.example.com:6380/2": Warn, "rediss://10.0.0.1": OK, "valkeys://10.0.0.1": OK,
		"redis://127.0.0.1": OK, "redis://[::1]:6379": OK, "redis://localhost": OK, "unix:///run/redis.sock": OK,
		"rediss+sentinel://u:p,w@a.example,b.example:26380,c.example/m": OK, "redis+sentinel://127.0.0.1:26379,127.0.0.1:26380/m": Warn,
		"redis+sentinel://a.example,b.example/m": Warn,
	} {
		if s, state, _ := secure(url); s != want {
			t.Errorf("%s: %s, %s; want %s", url, s, state, want)
		}
	}
	e := &exam{Config: Config{URLs: []string{"redis://10.0.0.1", "redis://10.0.0.1:6380", "redis://10.0.0.2"}, Nodes: []node.Node{anyNode{}, anyNode{}, anyNode{}}}}
	if e.hosts(); Worst(e.findings) != Warn || !strings.Contains(e.findings[0].State, "2 nodes are on 10.0.0.1") {
		t.Errorf("two nodes on a machine: %+v", e.findings)
	}
	e = &exam{Config: Config{URLs: []string{"redis+sentinel://a,b,c/m1", "redis+sentinel://a,b,c/m2"}, Nodes: []node.Node{anyNode{}, anyNode{}}}}
	if e.hosts(); Worst(e.findings) != Note || !strings.Contains(e.findings[0].State, "not known") {
		t.Errorf("two masters behind the same Sentinels: %+v", e.findings)
	}
}

// anyNode is a node of which only the address is asked for.
type anyNode struct{ node.Node }

func (anyNode) Addr() string { return "redis://10.0.0.1/0" }

// The user in a URL with Sentinels is the user of the master.
func TestTheUserOfAURLWithSentinels(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"redis+sentinel://web:p%40ss@10.0.0.1:26379,10.0.0.2:26379/m": "web",
		"redis+sentinel://10.0.0.1:26379,10.0.0.2:26379/m?db=1":       "",
		"redis+sentinel://10.0.0.1,10.0.0.2":                          "",
	} {
		if u, err := parseURL(address); err != nil || u.User.Username() != want || near(address) {
			t.Errorf("%s: %v, %v, near %t; want the user %q", address, u, err, near(address), want)
		}
	}
}
