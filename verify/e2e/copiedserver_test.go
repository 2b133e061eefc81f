package e2e

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A server that started from a copy of another server's data has the other server's id. If a list contains both
// servers, only one of them counts.
func TestACopyOfAServerIsRefused(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	id := s.servers[0].MustDo(t, "HGET", nodescript.AdmissionKey, "id")
	s.servers[2].MustDo(t, "HSET", nodescript.AdmissionKey, "id", id)
	c := s.client()
	redistest.Eventually(t, soon, "the copy is found out", func() bool {
		n, why := standing(t, c)
		return n == 2 && strings.Contains(why, "is a copy of the other")
	})
}

// This is the same case, but the copy is later in the list and the client met it first.
func TestACopyThatWasMetFirstCountsOnce(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	id := s.servers[1].MustDo(t, "HGET", nodescript.AdmissionKey, "id")
	s.servers[2].MustDo(t, "HSET", nodescript.AdmissionKey, "id", id)
	for _, late := range []int{1, 2} {
		c, ways := s.behind(0, 1, 2)
		ways[late].Cut(true)
		redistest.Eventually(t, soon, "two vote", func() bool { n, _ := standing(t, c); return n == 2 })
		ways[late].Cut(false)
		redistest.Eventually(t, soon, "the other is refused", func() bool {
			n, why := standing(t, c)
			return n == 2 && strings.Contains(why, "is a copy of the other")
		})
		c.Close()
	}
}
