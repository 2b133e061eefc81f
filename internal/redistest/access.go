package redistest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// URL returns redis://127.0.0.1:port, without a password.
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Addr returns 127.0.0.1:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Port returns the port. It does not change at a [Server.Restart].
func (s *Server) Port() int { return s.port }

// SocketURL returns unix:// and the path of the socket, for a server with [UnixSocket].
func (s *Server) SocketURL() string { return "unix://" + s.socketPath() }

func (s *Server) socketPath() string { return filepath.Join(s.dir, "redis.sock") }

// Log returns the server's output so far, over all restarts.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
	return string(b)
}

func tail(log string) string { return log[max(0, len(log)-1500):] }

// Do runs a raw command on its own connection. It uses no proxy and never sends a command twice. Replies have the types
// of RESP2: string, int64, nil, []any.
func (s *Server) Do(args ...any) (any, error) { return s.do(context.Background(), args...) }

func (s *Server) do(ctx context.Context, args ...any) (any, error) {
	s.mu.Lock()
	c := s.client
	s.mu.Unlock()
	if c == nil {
		return nil, errors.New("redistest: the server is killed")
	}
	return c.do(ctx, args...)
}

// MustDo does the same as [Server.Do]. An error fails the test.
func (s *Server) MustDo(t testing.TB, args ...any) any {
	t.Helper()
	v, err := s.Do(args...)
	if err != nil {
		t.Fatalf("redis: %v: %v", args, err)
	}
	return v
}

func (s *Server) dial() *client {
	return &client{network: "tcp", addr: s.Addr(), password: s.cfg.password}
}

// Eventually polls ok until it is true. It fails the test if that takes longer than within. Its pause is a twentieth of
// the time waited so far, from 2 to 25 ms, so that tests that wait for seconds leave the processor to others.
func Eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); {
		waited := time.Since(began)
		if waited > within {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(min(max(waited/20, 2*time.Millisecond), 25*time.Millisecond))
	}
}
