package sim

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// lookForGhosts checks that finished attempts and leases left nothing (no ghost) on any node. After TTL + W + 1 s no
// lock may remain, and in a world without faults no place in a queue. With faults, a node may not hear that a wait has
// ended. It then keeps the place until its queue expires. So lookForGhosts checks the queues again after that time.
func (w *world) lookForGhosts() {
	time.Sleep(longest(w.plan) + w.plan.Window + time.Second)
	w.ghosts(len(w.plan.Faults) == 0)
	time.Sleep(nodescript.QueueKept)
	w.ghosts(true)
}

// farewell closes the remaining clients while they ask for names, wait for them and hold them. It checks that no trace
// of the clients remains after that.
func (w *world) farewell() {
	w.mu.Lock()
	hosts := slices.Clone(w.hosts)
	w.mu.Unlock()
	d := dice(luck(w.plan.Seed, 'b', 'y'))
	for slot, h := range hosts {
		if h == nil {
			continue
		}
		for i := range 2 {
			a, op := &Actor{ID: len(w.plan.Actors) + 2*slot + i, Client: slot}, Op{Name: d.n(len(w.plan.Names)), Slot: w.plan.Slots != nil && d.hit(0.5), Wait: d.hit(0.8), Hold: time.Hour}
			at := d.between(1, 20*w.plan.Slow)
			w.acts.Go(func() {
				time.Sleep(at)
				w.lock(h, a, op, w.now())
			})
		}
	}
	time.Sleep(d.between(1, 30*w.plan.Slow))
	w.closeAll()
	w.ends.Wait()
	w.acts.Wait()
	time.Sleep(w.lingers())
	w.parted = true
	w.ghosts(true)
}

// claimed returns the owners that a node has claims for, after all clients were closed. A question that its release
// overtook joins a queue, and the next release hands the name to the closed client. That claim lasts a second.
func (w *world) claimed(s *server) map[string]bool {
	owners := map[string]bool{}
	if !w.parted {
		return owners
	}
	for _, k := range s.model.Keys() {
		if nodescript.KindOf(k.Name) != nodescript.RecordOfKey {
			continue
		}
		if r, err := nodescript.ParseRecord(k.Text); err == nil && r.Token == 0 {
			owners[r.Owner] = true
		}
	}
	return owners
}

func (w *world) ghosts(queues bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.servers {
		now, claimed := s.clock(), w.claimed(s)
		for _, k := range s.model.Keys() {
			switch kind := nodescript.KindOf(k.Name); {
			case kind == nodescript.NodeKey, kind == nodescript.ValueOfKey: // values stay
			case kind == nodescript.RecordOfKey:
				r, err := nodescript.ParseRecord(k.Text)
				switch {
				case err != nil:
					w.violated(anyOther, -1, "node%d keeps %q under %s", i, k.Text, k.Name)
				case r.Owner != "" && now < r.Expiry && !claimed[r.Owner]:
					w.violated(ghost, -1, "ghost: node%d keeps %s for %s, who does not have it, for another %d µs", i, k.Name, r.Owner, r.Expiry-now)
				}
			case kind == nodescript.ReadersOfKey:
				for owner, r := range readers(k) {
					if now < r.Expiry {
						w.violated(ghost, -1, "ghost: node%d keeps %s for the reader %s, who does not have it, for another %d µs", i, k.Name, owner, r.Expiry-now)
					}
				}
			case kind == nodescript.QueueOfKey:
				for j := 0; j < len(k.Waiting); j += 2 {
					if queues {
						w.violated(ghost, -1, "ghost: %s, who does not wait, stands in %s of node%d", k.Waiting[j], k.Name, i)
					}
				}
			case claimed[k.Text], nodescript.ClientOf(k.Text) == "": // the key is foreign: a clock leap may change its expiry
			default:
				w.violated(ghost, -1, "ghost: node%d keeps the plain key %s for %q", i, k.Name, k.Text)
			}
		}
	}
}
