package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// share is the lease that the readers of one name in this process have together. Each reader has a handle of its own
// below root, and the lease is released with the last one. The lock of root decides who joins and who is the last.
type share struct {
	held *renewal.Lease
	root handle // of nobody; it has ended from the start
}

// opens returns a function that makes a share of a grant.
func (m *Mutex) opens(k kind.Kind) func(waiting.Grant) waiting.Share {
	return func(g waiting.Grant) waiting.Share {
		// The lease has no values of a context, because each reader has its own.
		s := &share{held: m.client.keeper.Keep(context.Background(), k, g.Won, m.ttl, nil)}
		s.root = handle{first: &s.root, ended: true, shared: true, readers: 1, rest: &none}
		return s
	}
}

// Reserve implements [waiting.Share].
func (s *share) Reserve(n int) {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.readers += n
}

// join reserves a handle. It returns false if the last reader is gone or the lease has ended.
func (s *share) join() bool {
	over := s.held.End() != nil
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	if over || s.root.readers == 0 {
		return false
	}
	s.root.readers++
	return true
}

// enter returns the handle of a reader that was reserved before.
func (s *share) enter(ctx context.Context, m *Mutex) *Lease {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	h := &handle{
		first: &s.root, above: &s.root, ttl: m.ttl, reader: true, shared: true, values: context.WithoutCancel(ctx), rest: &none,
	}
	s.root.counts(m.ttl, 1)
	s.held.SetTTL(s.root.longest())
	return m.client.newHandle(m.name, s.held, s, h)
}
