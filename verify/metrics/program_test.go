package check

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// subject is a program with locks, whose metrics Prometheus scrapes.
type subject struct {
	t       *testing.T
	servers []*redistest.Server
	metrics *promholdfast.Metrics
	client  *holdfast.Client // observed
	other   *holdfast.Client // not observed
	target  string           // host and port
	binary  string           // holdfast; "": it was not built yet
}

// newSubject starts three servers and a program. The target shows its metrics, and then the files of node_exporter.
func newSubject(t *testing.T, files ...string) *subject {
	t.Helper()
	m, err := promholdfast.New(promholdfast.Options{Group: func(name string) string { g, _, _ := strings.Cut(name, "/"); return g }})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(m)
	page := promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // the files follow in plain text
		page.ServeHTTP(w, r)
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil {
				_, _ = w.Write(text)
			}
		}
	}))
	t.Cleanup(web.Close)
	s := &subject{t: t, servers: redistest.StartN(t, 3), metrics: m, target: web.Listener.Addr().String()}
	s.client, s.other = s.open(m.Observer()), s.open()
	admin.Trust(t.Context(), s.client)
	leasetest.AllVote(t, s.client, 15*time.Second)
	return s
}

func (s *subject) urls() (list []string) {
	for _, srv := range s.servers {
		list = append(list, srv.URL())
	}
	return list
}

func (s *subject) open(observers ...holdfast.Observer) *holdfast.Client {
	s.t.Helper()
	return s.openAt(s.urls(), observers...)
}

func (s *subject) openAt(urls []string, observers ...holdfast.Observer) *holdfast.Client {
	s.t.Helper()
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, TTL: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Observers: observers,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// works locks and unlocks, waits, is refused and loses locks, until the test ends.
func (s *subject) works() {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	s.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.turn(ctx)
		}
	}()
}

func (s *subject) turn(ctx context.Context) {
	held, err := s.other.Mutex("orders/1").Lock(ctx)
	if err != nil {
		return
	}
	_, _ = s.client.Mutex("orders/1").TryLock(ctx)
	wait := make(chan struct{})
	go func() {
		defer close(wait)
		if l, err := s.client.Mutex("orders/1").Lock(ctx); err == nil {
			_ = l.Extend(ctx, 2*time.Second) // a renewal
			_, _ = admin.Unlock(ctx, s.other, "orders/1", admin.UnlockOptions{})
			_ = l.Extend(ctx, 2*time.Second) // finds the loss
		}
	}()
	pause, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	<-pause.Done()
	cancel()
	_ = held.Unlock(context.WithoutCancel(ctx))
	<-wait
}

// stuck makes one client wait for a lock that another one has, until the test ends. A busy machine may lose the lease.
// Then the clients change places.
func (s *subject) stuck() {
	s.t.Helper()
	leasetest.Lock(s.t, s.other, "stuck")
	ctx, cancel := context.WithCancel(s.t.Context())
	var both sync.WaitGroup
	s.t.Cleanup(func() { cancel(); both.Wait() })
	for _, client := range []*holdfast.Client{s.client, s.other} {
		both.Go(func() {
			for ctx.Err() == nil {
				if l, err := client.Mutex("stuck").Lock(ctx); err == nil {
					select {
					case <-l.Context().Done():
					case <-ctx.Done():
					}
				}
			}
		})
	}
}
