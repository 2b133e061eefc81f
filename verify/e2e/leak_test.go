package e2e

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// written is a log that a test can read during writes.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func logging(w *written) func(*holdfast.Config) {
	return func(c *holdfast.Config) { c.Logger = slog.New(slog.NewTextHandler(w, nil)) }
}

func TestALeaseDroppedWithoutUnlockIsReported(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	var log written
	c := s.ready(s.client(calm, logging(&log)))
	lock(t, c, "given back").Unlock(t.Context())
	kept := lock(t, c, "kept")
	derived, cancel := context.WithCancel(lock(t, c, "context in use").Context())
	defer cancel()
	owner := lock(t, c, "dropped").Owner()
	redistest.Eventually(t, 10*time.Second, "a word about the dropped lease", func() bool {
		runtime.GC()
		return strings.Contains(log.String(), "name=dropped")
	})
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, owner) || !strings.Contains(got, "without Unlock") {
		t.Errorf("the report: %s", got)
	}
	for _, other := range []string{`name="given back"`, "name=kept", `name="context in use"`} {
		if strings.Contains(log.String(), other) {
			t.Errorf("reported without reason: %s", other)
		}
	}
	// The work under the dropped lease may still be running, so the client holds and renews the lease.
	r, _ := s.record(0, "dropped")
	redistest.Eventually(t, 5*time.Second, "the dropped lease to be renewed", func() bool {
		now, _ := s.record(0, "dropped")
		return now.Owner == owner && now.Expiry > r.Expiry
	})
	runtime.KeepAlive(kept)
	if derived.Err() != nil {
		t.Error("a lease ended by itself")
	}
	if err := c.Close(); err != nil || s.ours("dropped") != "" {
		t.Errorf("Close did not give the dropped lease back: %v", err)
	}
}

// The test is not parallel, because it counts goroutines. All clients close before it counts, because each wait for the
// last goroutine takes seconds.
func TestAClosedClientLeavesNoGoroutines(t *testing.T) {
	s := newSet(t, 3)
	t.Run("clients", func(t *testing.T) {
		for name, mischief := range map[string]func(*testing.T, *holdfast.Client, network, string){
			"never used": func(*testing.T, *holdfast.Client, network, string) {},
			"used":       func(t *testing.T, c *holdfast.Client, _ network, x string) { lock(t, c, x).Unlock(t.Context()) },
			"holding":    func(t *testing.T, c *holdfast.Client, _ network, x string) { lock(t, c, x) },
			"with nodes that hang": func(t *testing.T, c *holdfast.Client, net network, x string) {
				lock(t, c, x)
				net.all(func(p *redistest.Proxy) { p.BlackHole(true) })
				c.Mutex("y").TryLock(t.Context())
			},
			"with nodes that are gone": func(t *testing.T, c *holdfast.Client, net network, x string) {
				lock(t, c, x)
				net.all(func(p *redistest.Proxy) { p.Cut(true) })
				c.Mutex("y").TryLock(t.Context())
			},
			"with a wait cut short": func(t *testing.T, c *holdfast.Client, _ network, x string) {
				lock(t, c, x)
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				c.Mutex(x).Lock(ctx)
			},
		} {
			for _, d := range drivers {
				t.Run(name+", "+d.name, func(t *testing.T) {
					t.Parallel()
					s := &set{t: t, servers: s.servers, urls: s.urls}
					net := s.network()
					c := s.client(calm, net.via(t, d))
					mischief(t, c, net, t.Name())
					c.Close()
					net.all(func(p *redistest.Proxy) { p.BlackHole(false); p.Cut(false) })
				})
			}
		}
	})
	// The drivers' own goroutines end at the time limit of their last call.
	for until := time.Now().Add(15 * time.Second); goroutines() != ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("goroutines of closed clients:\n%s", goroutines())
		}
	}
}

// goroutines returns the stacks of the goroutines that run code of a client or a driver.
func goroutines() string {
	buf := make([]byte, 4<<20)
	var found []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "testing.tRunner") || strings.Contains(g, "/redistest.") || strings.Contains(g, "/parentdeath.") {
			continue
		}
		for _, own := range []string{"holdfast/internal/", "holdfast/node/", "holdfast.(*", "rueidis."} {
			if strings.Contains(g, own) {
				found = append(found, g)
				break
			}
		}
	}
	return strings.Join(found, "\n\n")
}
