package virtual

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
)

// A token may be 1.5 W ahead of the right time or behind it, and a voucher says nothing about tokens. So the rest of
// the quarantine must be long enough for the next token to exceed all earlier tokens.

// ahead returns a client that reads node 1 and a wrong node 2 as far ahead as possible, and does not reach node 0.
func (s *farSet) ahead() (*holdfast.Client, [3]*far) {
	s.clock(2, +2.25)
	c, ways := s.client(s.span(2))
	ways[0].cut.Store(true)
	ways[1].there.Store(int64(s.span(0.8)))
	admin.Nodes(s.t.Context(), c)
	return c, ways
}

// behind returns a client that reads node 0 and a wrong node 2 as far behind as possible, and does not reach node 1.
func (s *farSet) behind() *holdfast.Client {
	s.clock(2, -2)
	c, ways := s.client(s.span(2))
	ways[1].cut.Store(true)
	ways[0].back.Store(int64(s.span(0.8)))
	admin.Nodes(s.t.Context(), c)
	return c
}

// takes takes the lock and releases it. From then on the ways are short. It returns the token.
func (s *farSet) takes(c *holdfast.Client, ways ...*far) int64 {
	s.t.Helper()
	l, err := c.Mutex("x").TryLock(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, way := range ways {
		way.there.Store(0)
	}
	if err := l.Unlock(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return l.Fence()
}

func (s *farSet) rises(first, then int64) {
	s.t.Helper()
	if then <= first {
		s.t.Errorf("tokens fall: %d, and then %d: %s less", first, then, time.Duration(first-then)*time.Microsecond)
	}
	s.t.Logf("the second token is %s above the first", time.Duration(then-first)*time.Microsecond)
}

// All nodes lose their memory, and an operator correctly vouches that no lock is alive.
func TestTokensRiseAfterAVoucherForAllNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFarSet(t, 10*time.Second)
		s.clock(0, -0.49)
		s.clock(1, +0.49)
		operator, _ := s.client(s.span(2))
		defer operator.Close()
		admin.Nodes(t.Context(), operator)
		s.at(-8)
		b := s.behind()
		defer b.Close()
		s.at(-3)
		a, ways := s.ahead()
		defer a.Close()
		s.at(0)
		first := s.takes(a, ways[1])
		s.clock(2, 0)
		for _, n := range s.nodes {
			n.FlushAll()
		}
		admin.Trust(t.Context(), operator)
		time.Sleep(s.set.TrustedQuarantine())
		admin.Nodes(t.Context(), operator)
		admin.Nodes(t.Context(), b) // b must meet the nodes again, because a node without its memory is another member
		s.clock(2, -2)
		admin.Nodes(t.Context(), b)
		s.rises(first, s.takes(b))
	})
}

// One node loses its memory. Its clock is behind when its quarantine begins, and ahead when the quarantine ends.
func TestTokensRiseAfterAVoucherForANodeWithAWrongClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFarSet(t, 10*time.Second)
		s.clock(0, -0.49)
		s.clock(1, +0.49)
		s.at(-12)
		b := s.behind()
		defer b.Close()
		near := func(clock float64, cut int) *holdfast.Client {
			s.clock(2, clock)
			c, ways := s.client(s.span(2))
			ways[cut].cut.Store(true)
			admin.Nodes(t.Context(), c)
			return c
		}
		s.at(-9)
		begins := near(-1.45, 1)
		defer begins.Close()
		s.at(-6)
		ends := near(+1.45, 0)
		defer ends.Close()
		s.at(-3)
		a, ways := s.ahead()
		defer a.Close()
		s.at(0)
		first := s.takes(a, ways[1])
		s.nodes[2].FlushAll()
		s.clock(2, -1.95)
		admin.Nodes(t.Context(), begins)
		if n := admin.Trust(t.Context(), begins)[2]; n.VotesIn == 0 {
			t.Fatalf("the quarantine did not begin: %s", n)
		}
		s.clock(2, +1.95)
		time.Sleep(s.set.TrustedQuarantine() - s.span(3.9))
		if n := admin.Nodes(t.Context(), ends)[2]; !n.Votes() {
			t.Fatalf("the quarantine did not end: %s", n)
		}
		admin.Nodes(t.Context(), b) // b must meet the nodes again, because a node without its memory is another member
		s.clock(2, -2)
		admin.Nodes(t.Context(), b)
		s.rises(first, s.takes(b))
	})
}
