package sim

import (
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// lookForGhosts checks that nothing is left on any node when everything was given back:
// not after TTL + W + 1 s, and of the dead, who could not leave their queues, not when
// those are over.
func (w *world) lookForGhosts() {
	time.Sleep(longest(w.plan) + w.plan.Window + time.Second)
	w.ghosts(func(owner string) bool { return !w.dead(owner) })
	time.Sleep(nodescript.QueueKept)
	w.ghosts(func(string) bool { return true })
}

func (w *world) ghosts(counts func(owner string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.servers {
		now := s.clock()
		for _, k := range s.model.Keys() {
			record := strings.HasSuffix(k.Name, ":holdfast")
			switch {
			case strings.HasPrefix(k.Name, "holdfast:node"):
			case record:
				r, err := nodescript.ParseRecord(k.Text)
				switch {
				case err != nil:
					w.violated(-1, "node%d keeps %q under %s", i, k.Text, k.Name)
				case r.Owner != "" && now < r.Expiry:
					w.violated(-1, "ghost: node%d keeps %s for %s, who does not have it, for another %d µs", i, k.Name, r.Owner, r.Expiry-now)
				}
			case strings.HasSuffix(k.Name, ":queue"):
				for j := 0; j < len(k.Waiting); j += 2 {
					if counts(k.Waiting[j]) {
						w.violated(-1, "ghost: %s, who does not wait, stands in %s of node%d", k.Waiting[j], k.Name, i)
					}
				}
			default:
				w.violated(-1, "ghost: node%d keeps the plain key %s for %q", i, k.Name, k.Text)
			}
		}
	}
}

// dead reports whether an owner's client has ended. w.mu is held.
func (w *world) dead(owner string) bool {
	for _, h := range w.all {
		if h.owners[owner] {
			return h.dead
		}
	}
	return false
}
