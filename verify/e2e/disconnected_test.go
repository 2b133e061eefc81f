package e2e

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A server that ends each connection may want TLS, or none. Of a server that has answered before, that is no question.
func TestALostConnectionThatWorkedIsNotBlamedOnTLS(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client())
	if err := lock(t, c, "x").Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.servers[0].Kill()
	l, err := net.Listen("tcp", s.servers[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	for name, one := range map[string]struct {
		client *holdfast.Client
		asks   bool
	}{"a client that has worked": {c, false}, "a new client": {s.client(), true}} {
		for call, f := range map[string]func(ctx context.Context) error{
			"TryLock": func(ctx context.Context) error { _, err := one.client.Mutex("x").TryLock(ctx); return err },
			"Status":  func(ctx context.Context) error { _, err := one.client.Status(ctx, "x"); return err },
		} {
			redistest.Eventually(t, 10*time.Second, name+": "+call+" to meet a lost connection", func() bool {
				err := f(t.Context())
				if err == nil || !strings.Contains(err.Error(), "connection lost") {
					return false
				}
				if asks := strings.Contains(err.Error(), "does TLS match?"); asks != one.asks {
					t.Errorf("%s: %s: %v; want that it asks for TLS: %v", name, call, err, one.asks)
				}
				return true
			})
		}
	}
}
