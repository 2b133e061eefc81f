package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

const (
	// window is the largest delay of a call. It is long, because machines are busy.
	window = 3 * time.Second
	ttl    = 4 * time.Second
)

var (
	shared = nodescript.Config{N: 1, MaxTTL: ttl, Window: window, Cluster: "test"}
	lock   = nodescript.Lock{Name: "orders {eu} \x00\n'§"}
	ctx    = context.Background()
)

func start(tb testing.TB, opts ...embedded.Option) *embedded.Node {
	tb.Helper()
	n, err := embedded.Start("127.0.0.1:0", opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(n.Close)
	return n
}

// wire talks to one server directly, so that any difference comes from the server.
type wire struct {
	*redis.Client
	scripts *nodescript.Scripts
}

func dial(tb testing.TB, addr string) *wire {
	tb.Helper()
	w := &wire{Client: redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1})}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

func (w *wire) eval(text string, call node.Call) node.Reply {
	v, err := w.Eval(ctx, text, call.Keys, anys(call.Args)...).Text()
	return reply(v, err)
}

func (w *wire) call(c nodescript.Call) nodescript.Answer {
	v, err := w.EvalSha(ctx, w.scripts.SHA(c.Op), c.Keys, anys(c.Args)...).Text()
	return nodescript.ParseReply(c.Op, reply(v, err))
}

func (w *wire) hello() (nodescript.Hello, error) {
	return nodescript.ParseHello(w.eval(nodescript.HelloText(), node.Call{}))
}

// admit runs admit, and then SCRIPT LOAD, as a driver does. After a challenge it runs both commands again.
func (w *wire) admit(c nodescript.Config, stamp int64) nodescript.Answer {
	a := w.ask(c, stamp, "")
	if a.Verdict == nodescript.Challenged {
		a = w.ask(c, stamp, a.Names)
	}
	a.Names = "" // no two nodes write the same challenge
	return a
}

func (w *wire) ask(c nodescript.Config, stamp int64, challenge string) nodescript.Answer {
	h, err := w.hello()
	if err != nil {
		return nodescript.Answer{Verdict: nodescript.Failed, Err: err}
	}
	w.scripts = nodescript.NewScripts(c, h.Run)
	return w.evalAdmit(c, nodescript.AdmitCall(stamp, c.Window, challenge, "nonce", false))
}

func (w *wire) evalAdmit(c nodescript.Config, call node.Call) nodescript.Answer {
	answer := w.eval(w.scripts.Admit, call)
	if answer.Err == nil {
		p := w.Pipeline()
		for _, text := range w.scripts.Load() {
			p.ScriptLoad(ctx, text)
		}
		if _, err := p.Exec(ctx); err != nil {
			return nodescript.Answer{Verdict: nodescript.Failed, Err: err}
		}
	}
	return nodescript.ParseAdmit(c, answer)
}

func (w *wire) view(tb testing.TB) nodescript.View {
	tb.Helper()
	v, err := nodescript.ParseView(w.eval(nodescript.InspectText(), nodescript.InspectCall(lock)))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func reply(v string, err error) node.Reply {
	var e redis.Error
	if errors.As(err, &e) {
		err = node.ServerError(e.Error())
	}
	return node.Reply{Value: v, Err: err}
}

func anys(s []string) []any {
	a := make([]any, len(s))
	for i, v := range s {
		a[i] = v
	}
	return a
}

func now() int64 { return time.Now().UnixMicro() }

func TestFreshNodeVotesAndRestartedOneDoesNot(t *testing.T) {
	t.Parallel()
	if a := dial(t, start(t).Addr()).admit(shared, now()); a.Verdict != nodescript.Done {
		t.Errorf("a fresh node answered %+v", a)
	}
	w, want := dial(t, start(t, embedded.Restarted()).Addr()), shared.Quarantine()
	began := time.Now()
	if a := w.admit(shared, now()); a.Verdict != nodescript.Quarantined || a.Left != want {
		t.Fatalf("first admission: %+v, want a quarantine of %s", a, want)
	}
	redistest.Eventually(t, want+5*time.Second, "it votes", func() bool {
		return w.admit(shared, now()).Verdict == nodescript.Done
	})
	if took := time.Since(began); took < want {
		t.Errorf("it voted after %s, before its quarantine of %s was over", took, want)
	}
}

// The clock may not advance between two losses, but the counter in INFO does.
func TestEveryLossIsAnotherChallenge(t *testing.T) {
	t.Parallel()
	w, seen := dial(t, start(t).Addr()), map[string]bool{}
	for range 100 {
		w.FlushAll(ctx)
		a := w.ask(shared, now(), "")
		if a.Verdict != nodescript.Challenged || seen[a.Names] {
			t.Fatalf("answered %+v", a)
		}
		seen[a.Names] = true
	}
}

func TestEveryStartIsAnotherIncarnation(t *testing.T) {
	t.Parallel()
	a, b := start(t), start(t)
	h, err := dial(t, a.Addr()).hello()
	if err != nil || h.Run != a.RunID() || len(h.Run) != 40 || a.RunID() == b.RunID() {
		t.Errorf("hello %+v, %v; run ids %s and %s", h, err, a.RunID(), b.RunID())
	}
	if want := "Redis 7.0.15 (embedded)"; h.Version != want {
		t.Errorf("version %q, want %q", h.Version, want)
	}
	if off := now() - h.Time; off < 0 || off > time.Second.Microseconds() {
		t.Errorf("its clock is off by %dµs", off)
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	t.Parallel()
	addr := start(t).Addr()
	_, err := embedded.Start(addr)
	if !errors.Is(err, embedded.ErrPortTaken) || !strings.Contains(err.Error(), addr) {
		t.Errorf("second start on %s: %v", addr, err)
	}
}

func TestKeysExpireByTheClock(t *testing.T) {
	t.Parallel()
	w := dial(t, start(t).Addr())
	began := time.Now()
	if err := w.Set(ctx, "k", "v", 60*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, 5*time.Second, "the key is gone", func() bool { return w.Exists(ctx, "k").Val() == 0 })
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("the key was gone after %s", took)
	}
}

// BenchmarkAcquireRelease measures the cost of a lock on an embedded node, even with many keys. The number of keys
// matters because every access checks the expiry of all keys.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, keys := range []int{0, 100, 2000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			w := dial(b, start(b).Addr())
			redistest.Eventually(b, 10*time.Second, "it votes", func() bool {
				return w.admit(shared, now()).Verdict == nodescript.Done
			})
			for i := range keys {
				w.Set(ctx, fmt.Sprint("key", i), "v", time.Hour)
			}
			for b.Loop() {
				T := now()
				if a := w.call(nodescript.AcquireCall(lock, "o", T, ttl)); a.Verdict != nodescript.Granted {
					b.Fatalf("acquire: %+v", a)
				}
				w.call(nodescript.ReleaseCall(lock, "o", T))
			}
		})
	}
}

// A program that reports about a node that it has closed still needs its address.
func TestAClosedNodeHasItsAddress(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, url := n.Addr(), n.URL()
	n.Close()
	if n.Addr() != addr || n.URL() != url || addr == "" {
		t.Errorf("after Close the address is %q, the URL %q; want %q, %q", n.Addr(), n.URL(), addr, url)
	}
	n.Close()
	if n.Steal("owner", "thief", time.Second) {
		t.Error("a closed node has a lock")
	}
	if n.RunID() == "" {
		t.Error("a closed node has no run id")
	}
}
