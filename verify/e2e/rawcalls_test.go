package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// These tests call one real node without a client, because a client would keep the calls in order. They check the
// answers to calls that come late, come twice, or come from a wrong client.

// bareNode is a voting node, with the values that its calls need.
type bareNode struct {
	t       *testing.T
	node    node.Node
	set     nodescript.Config
	scripts *nodescript.Scripts
}

// bare makes node i vote, with the window wideWindow. It uses only package nodescript.
func (s *set) bare(t *testing.T, i int) *bareNode {
	t.Helper()
	set := s.config()
	set.MaxTTL, set.Window = 8*wideWindow, wideWindow
	b := &bareNode{t: t, node: s.dial(i), set: set}
	redistest.Eventually(t, 10*time.Second, "the node to vote", func() bool { return b.admit().Verdict == nodescript.Done })
	return b
}

// wideWindow is the window of bare nodes. A call that follows [bareNode.now] must arrive within it, even
// if the machine is busy.
const wideWindow = time.Second

// now returns the time of the node's clock.
func (b *bareNode) now() int64 {
	b.t.Helper()
	h, err := nodescript.ParseHello(b.node.Eval(b.t.Context(), nodescript.HelloText(), node.Call{}))
	if err != nil {
		b.t.Fatal(err)
	}
	b.scripts = nodescript.NewScripts(b.set, h.Run)
	return h.Time
}

func (b *bareNode) admit() nodescript.Answer {
	b.t.Helper()
	a := b.ask("")
	if a.Verdict == nodescript.Challenged {
		a = b.ask(a.Names)
	}
	return a
}

func (b *bareNode) ask(challenge string) nodescript.Answer {
	b.t.Helper()
	call := nodescript.AdmitCall(b.now(), b.set.Window, challenge, "nonce", false)
	return nodescript.ParseAdmit(b.set, b.node.Eval(b.t.Context(), b.scripts.Admit, call, b.scripts.Load()...))
}

func (b *bareNode) call(c nodescript.Call) nodescript.Answer {
	b.t.Helper()
	r := b.node.EvalSHA(b.t.Context(), []node.Call{{SHA: b.scripts.SHA(c.Op), Keys: c.Keys, Args: c.Args}})
	return nodescript.ParseReply(c.Op, r[0])
}

// says fails the test unless the node answers the call c with this verdict.
func (b *bareNode) says(want nodescript.Verdict, c nodescript.Call, what string) {
	b.t.Helper()
	if a := b.call(c); a.Verdict != want {
		b.t.Errorf("%s was answered %+v; want verdict %d", what, a, want)
	}
}

var bareLock = nodescript.Lock{Name: "x"}

const second = int64(time.Second / time.Microsecond)

// A renewal may use another connection than the release, and may come after the release.
func TestARenewalThatArrivesAfterItsReleaseLocksNothing(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	T := b.now()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, "a", T, time.Second), "an acquire of a free name")
	b.says(nodescript.Done, nodescript.ReleaseCall(bareLock, "a", T+1), "its release")
	b.says(nodescript.Lost, nodescript.ExtendCall(bareLock, "a", T, T+1, T+second, time.Second, wideWindow), "a renewal that the release covers")
	if left := s.ours("x"); left != "" {
		t.Errorf("a name that was given back: %s", left)
	}
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, "b", b.now(), time.Second), "an acquire by somebody else")
}

// A pass is an acquire in the name of the owner that has the lock, in the same process. An owner that has lost the lock
// in the meantime has no lock to pass.
func TestALockThatAnotherHasIsNotPassedOn(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	holder, next := nodescript.NewOwner("a", "client", 1, []byte("random")), nodescript.NewOwner("b", "client", 2, []byte("random"))
	T := b.now()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, "stranger", T, time.Second), "an acquire of a free name")
	b.says(nodescript.Held, nodescript.PassCall(bareLock, next, T+1, time.Second, holder), "a pass of what a stranger has")
	b.says(nodescript.Done, nodescript.ReleaseCall(bareLock, "stranger", T), "the stranger's release")
	T = b.now()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, holder, T, time.Second), "an acquire of a free name")
	b.says(nodescript.Granted, nodescript.PassCall(bareLock, next, T+1, time.Second, holder), "a pass by the holder")
}

// A stamp may be a window ahead of the node's clock. So the end of the lease may be a window ahead too.
func TestAQuarantineEndsAfterEveryLeaseThatTheNodeMayHaveForgotten(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := s.bare(t, 0)
	ahead := b.now() + (wideWindow - 10*time.Millisecond).Microseconds()
	b.says(nodescript.Granted, nodescript.AcquireCall(bareLock, "a", ahead, b.set.MaxTTL), "an acquire with a stamp that is ahead")
	r, _ := s.record(0, "x")
	s.servers[0].MustDo(t, "FLUSHALL")
	a := b.admit()
	if a.Verdict != nodescript.Quarantined {
		t.Fatalf("a node that was flushed answered %+v; want a quarantine", a)
	}
	if ends := a.Time + a.Left.Microseconds(); ends < r.Expiry {
		t.Errorf("the quarantine ends %dµs before a lease that the node forgot", r.Expiry-ends)
	}
}

// The token of a name may be up to a window ahead of a client's clock. The next client then draws a higher stamp at
// once, and does not wait until that time.
func TestATokenAheadOfTheClockIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	const wide = 2 * time.Second
	c := s.ready(s.client(func(c *holdfast.Config) { c.Window, c.MaxTTL, c.TTL, c.NodeTimeout = wide, 8*wide, 8*wide, time.Second }))
	lock(t, c, "x").Unlock(t.Context())
	ahead := time.Now().Add(wide * 8 / 10).UnixMicro()
	for _, srv := range s.servers {
		srv.MustDo(t, "SET", nodescript.RecordKey("x"), nodescript.Record{Seen: ahead}.String(), "PX", 60_000)
	}
	l, err := c.Mutex("x").TryLock(t.Context())
	if err != nil {
		t.Fatalf("with a token %s ahead, inside the window: %v", wide*8/10, err)
	}
	if l.Fence() <= ahead {
		t.Errorf("token %d after %d", l.Fence(), ahead)
	}
	l.Unlock(t.Context())
}

// A client finds a restart because the server does not know a script. A server that was restored from an old snapshot
// has a guard, but lacks the locks that were granted later.
func TestANodeThatCameBackWithAnOldSnapshotHasForgotten(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	net := s.network()
	competitor := s.ready(s.client(quarantined))
	holder := s.ready(s.client(quarantined, net.via(t, viaRueidis)))
	s.each(all(3), func(srv *redistest.Server) { srv.MustDo(t, "SAVE") })
	lock(t, holder, "x", holdfast.WithTTL(3*time.Second))
	net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
	start := time.Now()
	s.each(all(3), func(srv *redistest.Server) { srv.Kill(); srv.Restart() })
	if guard := s.servers[0].MustDo(t, "EXISTS", nodescript.GuardKey); guard != int64(1) {
		t.Fatal("the snapshot has no guard: it shows nothing")
	}
	if l, err := competitor.Mutex("x").TryLock(t.Context()); err == nil {
		t.Fatalf("two holders: acquired at once by %s", l.Owner())
	}
	nobodyBefore(t, competitor, start, 3200*time.Millisecond)
}

// A clock that leaps deletes records, and may come back in a moment. But it also deletes the guard.
func TestANodeWhoseClockLeaptAndCameBackHasForgotten(t *testing.T) {
	t.Parallel()
	s := newSet(t, 5, redistest.WithClock())
	net := s.network()
	competitor := s.ready(s.client(quarantined))
	holder := s.ready(s.client(quarantined, net.via(t, viaRueidis)))
	for _, i := range []int{3, 4} { // only three nodes get the holder's lease
		net[i].Cut(true)
	}
	lock(t, holder, "x", holdfast.WithTTL(3*time.Second))
	net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
	start := time.Now()
	s.servers[0].Step(3 * time.Hour)
	s.servers[0].MustDo(t, "DEL", nodescript.RecordKey("another")) // a write makes the server delete expired keys
	redistest.Eventually(t, 10*time.Second, "the record to expire", func() bool {
		v, err := s.servers[0].Do("GET", nodescript.RecordKey("x"))
		plain, _ := s.servers[0].Do("GET", "x")
		s.servers[0].Do("GET", nodescript.GuardKey)
		return err == nil && v == nil && plain == nil
	})
	s.servers[0].ResetClock()
	if l, err := competitor.Mutex("x").TryLock(t.Context()); err == nil {
		t.Fatalf("two holders: acquired at once by %s", l.Owner())
	}
	if waited := time.Since(start); waited > 2*time.Second {
		t.Logf("asked %s after the lock was taken: this machine is too busy to show much", waited)
	}
}

// Redis deletes an expired key when a command reads it, or at a random time. Here the guard has not been deleted yet.
// So each script must read the guard before the record.
func TestNothingReadsARecordThatALeapTookBeforeTheGuard(t *testing.T) {
	t.Parallel()
	for what, send := range map[string]func(s *set, c *holdfast.Client, l *holdfast.Lease){
		"a status": func(_ *set, c *holdfast.Client, _ *holdfast.Lease) { c.Status(t.Context(), "x") },
		"an inspect": func(s *set, _ *holdfast.Client, _ *holdfast.Lease) { // without the other requests of a status
			s.dial(0).Eval(t.Context(), nodescript.InspectText(), nodescript.InspectCall(nodescript.Lock{Name: "x"}))
		},
		"an acquire": func(_ *set, c *holdfast.Client, _ *holdfast.Lease) { c.Mutex("x").TryLock(t.Context()) },
		"a release":  func(_ *set, _ *holdfast.Client, l *holdfast.Lease) { l.Unlock(t.Context()) },
		"UnlockAt": func(_ *set, _ *holdfast.Client, l *holdfast.Lease) {
			l.UnlockAt(t.Context(), time.Now().Add(time.Second))
		},
		"an extend":      func(_ *set, _ *holdfast.Client, l *holdfast.Lease) { l.Extend(t.Context(), 3*time.Second) },
		"a first client": func(_ *set, c *holdfast.Client, _ *holdfast.Lease) { admin.Nodes(t.Context(), c) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSet(t, 1, redistest.WithClock(), redistest.Args("--enable-debug-command", "yes"))
			srv := s.servers[0]
			c := s.ready(s.client(quarantined))
			l := lock(t, c, "x", holdfast.WithTTL(3*time.Second))
			srv.MustDo(t, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
			leap(t, srv, 3*time.Hour)
			send(s, c, l)
			leap(t, srv, 0) // so that EXISTS itself does not see the guard as expired
			if there := srv.MustDo(t, "EXISTS", nodescript.GuardKey); there != int64(0) {
				t.Errorf("the guard is there after %s while the clock was 3 h ahead", what)
			}
		})
	}
}

// leap steps the server's clock to d ahead of the real time, and returns when the server's commands see that. A server
// may read its clock only once in a millisecond, as Valkey 9 on arm64 does under the clock shim.
func leap(t *testing.T, srv *redistest.Server, d time.Duration) {
	t.Helper()
	srv.Step(d)
	redistest.Eventually(t, 10*time.Second, "the server to see its clock", func() bool {
		v := srv.MustDo(t, "TIME").([]any)
		s, err := strconv.ParseInt(v[0].(string), 10, 64)
		return err == nil && time.Until(time.Unix(s, 0).Add(-d)).Abs() < time.Minute
	})
}

// A machine boots with a clock that is far ahead. Its server loads the held locks as expired, although every write was
// on disk.
func TestADurableNodeThatBootedWithAWrongClockHasForgotten(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.Durable(), redistest.WithClock())
	net := s.network()
	durable := func(c *holdfast.Config) { quarantined(c); c.Durable = true }
	competitor := s.ready(s.client(durable))
	holder := s.ready(s.client(durable, net.via(t, viaRueidis)))
	net[2].Cut(true) // only two nodes get the holder's lease
	l := lock(t, holder, "x", holdfast.WithTTL(3*time.Second))
	booted := s.servers[1]
	booted.Kill()
	booted.Step(3 * time.Hour)
	booted.Restart()
	// The server deletes the expired keys one after the other. A GET would delete the record before the guard.
	redistest.Eventually(t, 20*time.Second, "all records to expire", func() bool {
		info, err := booted.Do("INFO", "keyspace")
		text, _ := info.(string)
		return err == nil && text != "" && (!strings.Contains(text, "expires=") || strings.Contains(text, "expires=0"))
	})
	booted.ResetClock()
	if second, err := competitor.Mutex("x").TryLock(t.Context()); err == nil && time.Now().Before(l.Deadline()) {
		t.Fatalf("two holders: acquired by %s, %s before the end of %s", second.Owner(), time.Until(l.Deadline()), l.Owner())
	}
}
