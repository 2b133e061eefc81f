package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/kind"
	"github.com/holdfast-go/holdfast/internal/core/renewal"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
)

// share is one lease that all readers of a name in this client use together. Each reader has its own handle below
// root. The last reader releases the lease. The mu of root guards who joins and who is the last one.
type share struct {
	held *renewal.Lease
	root handle // the parent of the readers' handles; no caller has it, so its field ended is true from the start
}

// newShare returns a function that makes a share from a grant.
func (m *Mutex) newShare(k kind.Kind) func(waiting.Grant) waiting.Share {
	return func(g waiting.Grant) waiting.Share {
		// The lease gets an empty context, because each reader has its own context values.
		s := &share{held: m.client.keeper.Keep(context.Background(), k, g.Won, m.ttl, nil)}
		if m.hold > 0 {
			s.held.Limit(m.hold)
		}
		s.root = handle{first: &s.root, ended: true, shared: true, readers: 1, rest: &none}
		return s
	}
}

// Reserve reserves handles for n more readers, which call enter later. Without it the share could end before they
// come. It implements [waiting.Share].
func (s *share) Reserve(n int) {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.readers += n
}

// join reserves a handle for one reader. It returns false if the last reader has left or the lease has ended.
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

// enter returns the handle that was reserved for a reader.
func (s *share) enter(ctx context.Context, m *Mutex) *Lease {
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	h := &handle{
		first: &s.root, above: &s.root, ttl: m.ttl, reader: true, shared: true, values: context.WithoutCancel(ctx), rest: &none,
	}
	s.root.counts(m.ttl, 1)
	s.held.SetTTL(s.root.longest())
	s.held.Prolong(m.hold)
	return m.client.newHandle(m.name, s.held, s, h)
}
