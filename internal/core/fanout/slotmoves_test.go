package fanout

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A renewal makes its call when the first server gets it. A shard that gave its last slot away becomes a replica, and
// does not vote: its client passes a renewal on before anybody has made the call.
func TestARenewalFollowsItsSlotFromAServerThatBecameAReplica(t *testing.T) {
	for _, c := range []struct {
		what          string
		moved, needed bool
		want          nodescript.Verdict
	}{
		{"another shard has the slot", true, true, nodescript.Repaired},
		{"no other shard has the slot", false, true, nodescript.Failed},
		{"the lease has ended", true, false, nodescript.Failed},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, other := newShard(t), newShard(t)
			defer other.Close(t.Context())
			defer s.Close(t.Context())
			other.wants(t, "the lock", "x", nodescript.Granted, "admit", "call")
			if c.moved {
				s.senders[0].slots.shard.Owner = func(int) *Fanout { return other.Fanout }
			}
			s.change(func() { s.replica = true })
			s.senders[0].voter.doubt()
			r := newCollector(1)
			s.Send(&Message{To: r, Draw: func() (nodescript.Call, bool) {
				if !c.needed {
					return nodescript.Call{}, false
				}
				stamp, _, err := other.Stamp()
				return nodescript.ExtendCall(nodescript.Lock{Name: "x"}, "owner", stamp, stamp, stamp, time.Second, time.Second), err == nil
			}}, nil)
			if <-r.done; r.answers[0].Verdict != c.want {
				t.Errorf("%s: %+v, want the verdict %d", c.what, r.answers[0], c.want)
			}
		})
	}
}
