package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// fakes are the servers of a cluster whose answers a test decides.
type fakes struct {
	mu      sync.Mutex
	views   map[string]*view // by address; nil: the server hangs; without an entry nobody listens
	asked   map[string]int   // the number of questions
	open    map[string]int   // the number of questions without an answer
	most    map[string]int   // the largest number of those
	dials   map[string]int
	answers chan string // gets an address after each answer, if it is not nil
}

func (f *fakes) dial(_ context.Context, addr string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dials[addr]++
	if _, listens := f.views[addr]; !listens {
		return nil, errors.New("nobody listens")
	}
	mine, theirs := net.Pipe()
	go f.serve(theirs, addr)
	return mine, nil
}

func (f *fakes) serve(c net.Conn, addr string) {
	defer c.Close()
	for in := bufio.NewReader(c); ; {
		q, err := ReadAnswer(in)
		if err != nil {
			return
		}
		if slices.Equal(q.Words, []string{"INFO", "replication"}) {
			if !f.tell(c, addr) {
				return
			}
			continue
		}
		f.mu.Lock()
		f.asked[addr]++
		f.open[addr]++
		f.most[addr] = max(f.most[addr], f.open[addr])
		v, listens := f.views[addr]
		f.mu.Unlock()
		if !listens {
			return
		}
		if v == nil {
			_, _ = in.ReadByte() // until the client gives up
			f.mu.Lock()
			f.open[addr]--
			f.mu.Unlock()
			return
		}
		text := nodes(v)
		if _, err := fmt.Fprintf(c, "$%d\r\n%s\r\n", len(text), text); err != nil {
			return
		}
		f.mu.Lock()
		f.open[addr]--
		answers := f.answers
		f.mu.Unlock()
		if answers != nil {
			answers <- addr
		}
	}
}

// tell answers a question for the replication id. It returns false if the connection is broken.
func (f *fakes) tell(c net.Conn, addr string) bool {
	f.mu.Lock()
	v := f.views[addr]
	f.mu.Unlock()
	answer := "-NOPERM no right to INFO\r\n"
	if v != nil && v.data != "" {
		answer = bulk("# Replication\r\nrole:master\r\nmaster_replid:" + v.data + "\r\n")
	}
	_, err := io.WriteString(c, answer)
	return err == nil
}

// nodes returns the answer to CLUSTER NODES for a view.
func nodes(v *view) string {
	var b strings.Builder
	for _, m := range v.members {
		flags, master, epoch := "master", "-", uint64(0)
		if m.master != "" {
			flags, master = "slave", m.master
		}
		if m.id == v.self {
			flags = "myself," + flags
		}
		if m.state != "" {
			flags += "," + m.state
		}
		slots := ""
		for _, s := range v.spans {
			if s.owner == m.id {
				epoch = s.epoch
				slots += fmt.Sprintf(" %d-%d", s.from, s.to)
			}
		}
		fmt.Fprintf(&b, "%s %s@1 %s %s 0 0 %d connected%s\n", m.id, m.addr, flags, master, epoch, slots)
	}
	return b.String()
}

// set makes the servers answer so.
func (f *fakes) set(views ...*view) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views = map[string]*view{}
	for _, v := range views {
		for _, m := range v.members {
			if m.id == v.self {
				f.views[m.addr] = v
			}
		}
	}
}

// stub is the node of a shard.
type stub struct {
	node.Node
	s      *Shard
	closed chan struct{}
}

func (s *stub) Addr() string { return s.s.Addr() }
func (s *stub) Close()       { close(s.closed) }

// fake makes a cluster of such servers, with the seeds a:1 and b:1.
func fake(t *testing.T, views ...*view) (*Cluster, *fakes) {
	f := &fakes{asked: map[string]int{}, open: map[string]int{}, most: map[string]int{}, dials: map[string]int{}}
	f.set(views...)
	c := NewCluster(ClusterConfig{
		Seeds: []string{"a:1", "b:1"}, Dial: f.dial, Login: func(context.Context) (string, string, error) { return "", "", nil },
		Node: func(s *Shard) node.Node { return &stub{s: s, closed: make(chan struct{})} },
	})
	t.Cleanup(c.Close)
	return c, f
}

// looked asks until a topology has what is wanted.
func looked(t *testing.T, c *Cluster, what string, ok func(*node.Topology) bool) *node.Topology {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		switch now, err := c.Look(ctx); {
		case err == nil && ok(now):
			return now
		case ctx.Err() != nil:
			t.Fatalf("not found: %s: %v", what, err)
		}
	}
}

// replicas makes servers replicas of a master in views.
func replicas(of string, names string, views ...*view) []*view {
	for _, v := range views {
		for i := range v.members {
			if strings.Contains(names, v.members[i].addr[:1]) {
				v.members[i].master = id(of)
			}
		}
	}
	return views
}

func TestAShardKeepsItsNode(t *testing.T) {
	t.Parallel()
	const all, n = "abcdef", node.Slots - 1
	c, f := fake(t, replicas("a", "d", replicas("b", "e", each(all, all, "a 1 0 99", "b 2 100 16383")...)...)...)
	any := func(*node.Topology) bool { return true }
	shards := func(now *node.Topology) (text string) {
		for _, s := range now.Shards {
			text += fmt.Sprintf("%s=%s/%d ", s.Name[38:], s.Master.Addr, len(s.Replicas))
		}
		return text
	}
	first := looked(t, c, "a topology", any)
	if got := shards(first); got != "62=b:1/1 61=a:1/1 " {
		t.Fatalf("the shards are %s", got)
	}
	node0, node1 := first.Shards[first.Owner[0]].Node, first.Shards[first.Owner[n]].Node
	if again := looked(t, c, "a topology", any); again != first {
		t.Error("the same answers make another topology")
	}
	step := func(what string, want string, views ...*view) *node.Topology {
		t.Helper()
		f.set(views...)
		now := looked(t, c, what, func(now *node.Topology) bool { return shards(now) == want })
		return now
	}
	// d takes the place of a.
	now := step("a failover", "62=b:1/1 61=d:1/1 ", replicas("d", "a", replicas("b", "e", each(all, all, "d 3 0 99", "b 2 100 16383")...)...)...)
	if now.Shards[1].Node != node0 || now.Owner[0] != 1 || now.Owner[n] != 0 || now.Shards[0].Node != node1 {
		t.Error("the shard has another node after a failover")
	}
	// f, which was nobody's replica, gets slots: another shard. a becomes a master, too, while d has its slots.
	now = step("new masters", "62=b:1/1 61=d:1/0 66=f:1/0 61-2=a:1/0 ", replicas("b", "e", each(all, all, "d 3 0 89", "a 4 90 90", "f 5 91 99", "b 2 100 16383")...)...)
	if now.Shards[1].Node != node0 || now.Shards[3].Node == node0 || now.Shards[3].Node.Addr() == node0.Addr() {
		t.Error("two shards have one node or address")
	}
	// d loses all slots to b, and gets them back.
	now = step("no slots", "62=b:1/1 ", replicas("b", "e", each(all, all, "b 6 0 16383")...)...)
	if now.Owner[0] != 0 || !slices.Contains(now.Former, node0) {
		t.Errorf("slot 0 belongs to shard %d, and the former nodes are %v", now.Owner[0], now.Former)
	}
	now = step("the slots are back", "62=b:1/1 61=d:1/0 ", replicas("b", "e", each(all, all, "d 7 0 99", "b 6 100 16383")...)...)
	if now.Shards[1].Node != node0 {
		t.Error("a shard that was without slots for a moment has another node")
	}
	// A minute without slots closes the node, if its server is no master any more.
	step("no slots", "62=b:1/2 ", replicas("b", "de", each(all, all, "b 8 0 16383")...)...)
	c.mu.Lock()
	for _, s := range c.shards {
		if s.slots == 0 {
			s.left = s.left.Add(-parted)
		}
	}
	c.mu.Unlock()
	if now := looked(t, c, "a topology", any); slices.Contains(now.Former, node0) {
		t.Errorf("the former nodes are %v", now.Former)
	}
	select {
	case <-node0.(*stub).closed:
	case <-time.After(20 * time.Second):
		t.Error("the node of a shard that is gone is open")
	}
	now = step("a new shard", "62=b:1/1 64=d:1/0 ", replicas("b", "e", each(all, all, "d 9 0 99", "b 8 100 16383")...)...)
	if now.Shards[1].Node == node0 {
		t.Error("the closed node is in use")
	}
}

// A master without hash slots is a spare one, if a majority lists it as a master that works. It is firm at once if it had
// hash slots until now, else after a while.
func TestAMasterWithoutSlotsIsASpareOne(t *testing.T) {
	t.Parallel()
	const all = "abcde"
	c, f := fake(t, each(all, all, "a 1 0 99", "b 2 100 16383")...)
	spares := func(now *node.Topology) string {
		var list []string
		for _, s := range now.Spare {
			list = append(list, fmt.Sprintf("%s/%d/%v ", s.Master.Addr, s.Slots, s.Firm))
		}
		slices.Sort(list)
		return strings.Join(list, "")
	}
	step := func(what, want string, views ...*view) *node.Topology {
		t.Helper()
		f.set(views...)
		return looked(t, c, what, func(now *node.Topology) bool { return spares(now) == want })
	}
	first := step("masters that had no slots", "c:1/0/false d:1/0/false e:1/0/false ", each(all, all, "a 1 0 99", "b 2 100 16383")...)
	c.mu.Lock()
	for _, s := range c.shards {
		s.since = s.since.Add(-demoted)
	}
	c.mu.Unlock()
	step("a master that has lost its slots", "a:1/0/true c:1/0/false d:1/0/false e:1/0/false ", each(all, all, "b 3 0 16383")...)
	failed := func(views ...*view) []*view { // c has failed, a is a replica, and a minority lists d and e
		for i, v := range replicas("b", "a", views...) {
			if v.members[2].state = node.Fail; i < 3 {
				v.members = v.members[:3]
			}
		}
		return views
	}
	step("servers that are no masters", "", failed(each(all, all, "b 3 0 16383")...)...)
	c.mu.Lock()
	for _, s := range c.shards {
		s.firmed = s.firmed.Add(-demoted)
	}
	c.mu.Unlock()
	step("masters again", "a:1/0/false c:1/0/false d:1/0/false e:1/0/false ", each(all, all, "b 3 0 16383")...)
	c.mu.Lock()
	for _, s := range c.shards {
		s.firmed = s.firmed.Add(-demoted)
	}
	c.mu.Unlock()
	now := step("firm masters", "a:1/0/true c:1/0/true d:1/0/true e:1/0/true ", each(all, all, "b 3 0 16383")...)
	back := step("slots again", "c:1/0/true d:1/0/true e:1/0/true ", each(all, all, "a 4 0 99", "b 3 100 16383")...)
	spare := slices.IndexFunc(now.Spare, func(s node.Spare) bool { return s.Master.Addr == "a:1" })
	if a, b := back.Shards[back.Owner[0]], first.Shards[first.Owner[0]]; a.Node != now.Spare[spare].Node || a.Node != b.Node || a.Turn <= b.Turn {
		t.Errorf("a master that got slots again has another node, or its turn is %d after %d", a.Turn, b.Turn)
	}
}

// CLUSTER FORGET of a dead master leaves its replica behind, and the servers list it as the replica of nobody.
func TestAReplicaOfAForgottenMasterVoidsNoAnswer(t *testing.T) {
	t.Parallel()
	views := each("abcd", "abcd", "a 1 0 16383")
	for _, v := range views {
		v.members[3].master = nobody
	}
	c, _ := fake(t, views...)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	now, err := c.Look(ctx)
	if err != nil || now.Servers != 4 || len(now.Shards) != 1 || len(now.Shards[0].Replicas) != 0 {
		t.Errorf("%+v, %v; want one shard without replicas, and four servers", now, err)
	}
}

// A server hangs. The others answer again and again, and it has one open question.
func TestAServerThatHangsDelaysNobody(t *testing.T) {
	t.Parallel()
	views := each("abcdef", "abcdef", "a 1 0 16383")
	c, f := fake(t, views...)
	looked(t, c, "a topology", func(now *node.Topology) bool { return now.Answered == 6 })
	f.mu.Lock()
	f.views["f:1"] = nil
	f.mu.Unlock()
	looked(t, c, "a topology", func(*node.Topology) bool { f.mu.Lock(); defer f.mu.Unlock(); return f.open["f:1"] == 1 })
	f.mu.Lock()
	asked := f.asked["f:1"]
	f.mu.Unlock()
	for range 20 { // rounds that wait for the server take longer than one of its questions, which has three seconds
		looked(t, c, "a topology", func(*node.Topology) bool { return true })
	}
	f.mu.Lock()
	if f.asked["f:1"] != asked || f.open["f:1"] != 1 || f.most["f:1"] != 1 || f.most["a:1"] != 1 || f.dials["a:1"] != 1 {
		t.Errorf("the server that hangs has %d open questions, and had up to %d; a server that works had up to %d, on %d connections",
			f.open["f:1"], f.most["f:1"], f.most["a:1"], f.dials["a:1"])
	}
	f.mu.Unlock()
	looked(t, c, "the server to be missed", func(now *node.Topology) bool { return now.Answered == 5 && now.Asked == 6 })
	f.mu.Lock()
	f.views["f:1"] = views[5]
	f.mu.Unlock()
	looked(t, c, "the server to be back", func(now *node.Topology) bool { return now.Answered == 6 })
}

// All servers get other addresses. The seeds lead to them.
func TestSeedsAreAskedAgain(t *testing.T) {
	t.Parallel()
	c, f := fake(t, each("cde", "cde", "c 1 0 16383")...)
	f.mu.Lock()
	f.views["a:1"] = f.views["c:1"]
	f.mu.Unlock()
	looked(t, c, "a topology", func(*node.Topology) bool { return true })
	renamed := each("cde", "cde", "c 1 0 16383")
	for _, v := range renamed {
		for i := range v.members {
			v.members[i].addr = strings.Replace(v.members[i].addr, ":1", ":2", 1)
		}
	}
	f.set(renamed...)
	if _, err := c.Look(t.Context()); err == nil {
		t.Error("nobody answers, and there is a topology")
	}
	f.mu.Lock()
	f.views["b:1"] = renamed[0]
	f.mu.Unlock()
	looked(t, c, "the new addresses", func(now *node.Topology) bool { return now.Shards[0].Master.Addr == "c:2" && now.Answered == 3 })
}

// Without a majority, no call is sent after [node.NamedFor], and a call for a slot without an owner never.
func TestACallNeedsAConfirmedOwner(t *testing.T) {
	t.Parallel()
	c, f := fake(t, each("abc", "abc", "a 1 0 0", "b 1 1 16383")...)
	now := looked(t, c, "a topology", func(*node.Topology) bool { return true })
	key := map[int]string{} // by the index of the shard; the owner of slot 0 has one slot only
	for i := 0; len(key) < 2; i++ {
		k := fmt.Sprint("k", i)
		key[int(now.Owner[node.SlotOf(k)])] = k
	}
	s := c.now.Load().shards
	code := func(s *Shard, keys ...string) string { return node.Code(s.refuses(&node.Call{Keys: keys})) }
	if got := []string{code(s[0], key[0]), code(s[0], key[1]), code(s[0], key[1], key[0]), code(s[0], key[0], key[1]), code(s[1])}; !slices.Equal(got, []string{"", node.Moved, "", node.Moved, ""}) {
		t.Errorf("the codes are %q", got)
	}
	f.set(append(each("ab", "abc", "b 1 1 16383"), say("c", "abc", "a 1 0 0", "b 1 1 16383"))...)
	looked(t, c, "a slot without an owner", func(now *node.Topology) bool { return now.Owner[0] < 0 })
	if got := code(s[0], key[1]); got != node.ClusterDown {
		t.Errorf("without an owner: %q", got)
	}
	f.set(say("a", "abc", "b 1 1 16383"))
	if _, err := c.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "1 of 3 servers, and 2 are needed") {
		t.Errorf("one of three servers: %v", err)
	}
	c.end() // the next lines move the clock
	last := *c.now.Load()
	last.asked = steady().Add(-node.NamedFor - 1)
	c.now.Store(&last)
	if err := s[0].refuses(&node.Call{Keys: []string{key[0]}}); !node.Unsent(err) || node.Code(err) != "" {
		t.Errorf("after an old answer: %v", err)
	}
}

// A shard's node hears of its master in every round, and when nobody names it any more.
func TestAShardNamesItsMasterUntilItIsLost(t *testing.T) {
	t.Parallel()
	c, f := fake(t, each("abc", "abc", "a 1 0 16383")...)
	looked(t, c, "a topology", func(*node.Topology) bool { return true })
	s := c.now.Load().shards[0]
	found, lost := make(chan Named, 1), make(chan bool, 1)
	go s.Watch(t.Context(), func(n Named) {
		select {
		case found <- n:
		default:
		}
	}, func() {
		select {
		case lost <- true:
		default:
		}
	})
	before := steady()
	n := <-found
	for n = <-found; n.Asked <= before; n = <-found {
	}
	if n.Addr != "a:1" || n.Epoch != noEpoch || n.Firm || len(lost) > 0 {
		t.Errorf("the master is %+v", n)
	}
	c.mu.Lock()
	s.since = s.since.Add(-stale)
	c.mu.Unlock()
	for n = range found {
		if n.Firm {
			break
		}
	}
	var got Named
	if err := s.Master(t.Context(), func(n Named) { got = n }); err != nil || got.Addr != "a:1" || steady().Sub(got.Asked) > node.NamedFor {
		t.Errorf("the master is %+v, %v", got, err)
	}
	f.set(say("a", "abc", "a 1 0 16383"))
	<-lost
	if err := s.Master(t.Context(), func(Named) { t.Error("a minority names the master") }); err == nil {
		t.Error("no error without a majority")
	}
}

// Many replies may say that a slot has moved.
func TestARefusalMakesTheClusterLook(t *testing.T) {
	c, _ := fake(t)
	s := &Shard{cluster: c}
	for err, want := range map[error]int{
		nil: 0, errors.New("x"): 0, node.ServerError("NOSCRIPT x"): 0, node.ServerError("TRYAGAIN x"): 0, node.ServerError("MOVED 1 a:1"): 1,
		node.ServerError("ASK 1 a:1"): 1, node.ServerError("CLUSTERDOWN x"): 1, node.ServerError("READONLY x"): 1, node.ServerError("MASTERDOWN x"): 1,
	} {
		s.Heard(err)
		if got := len(c.again); got != want {
			t.Errorf("after %v: %d", err, got)
		}
		for len(c.again) > 0 {
			<-c.again
		}
	}
}

// Look waits for an answer to a question that was sent after it began.
func TestLookAsksAfterItsBeginning(t *testing.T) {
	t.Parallel()
	c, f := fake(t, each("a", "a", "a 1 0 16383")...)
	looked(t, c, "a topology", func(*node.Topology) bool { return true })
	for i := range 50 {
		f.mu.Lock()
		f.views["a:1"] = say("a", "a", fmt.Sprintf("a %d 0 %d", 2+i, 100+i))
		f.mu.Unlock()
		now, err := c.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.Owner[100+i] != 0 || now.Owner[101+i] != -1 {
			t.Fatalf("look %d: an old answer", i)
		}
	}
	if asked := c.now.Load().asked; asked <= clock.Instant(0) {
		t.Errorf("asked at %d", asked)
	}
}

// A server answers at the address of a seed, and the address that it announces swallows everything.
func TestAnAnnouncedAddressThatHangsIsRefused(t *testing.T) {
	t.Parallel()
	c, f := fake(t)
	f.mu.Lock()
	f.views = map[string]*view{"a:1": say("c", "c", "c 1 0 16383"), "c:1": nil}
	f.mu.Unlock()
	_, err := c.Look(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the server at a:1 announces the address c:1") || c.Topology() != nil {
		t.Errorf("%v", err)
	}
	f.set(say("c", "c", "c 1 0 16383"))
	f.mu.Lock()
	f.views["a:1"] = f.views["c:1"]
	f.mu.Unlock()
	looked(t, c, "a topology", func(*node.Topology) bool { return true })
}
