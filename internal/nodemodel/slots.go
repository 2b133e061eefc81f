package nodemodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// slots are the keys of a semaphore. A member of its queue is a text: k in four digits, and then an owner. The member's
// score is the owner's ticket while the owner waits, and -1 - slot while the owner has a claim of that slot.
type slots struct {
	n     *Node
	s     script
	queue string
}

func (q slots) key(slot int) string {
	return strings.TrimSuffix(q.queue, "slots:holdfast:queue") + strconv.Itoa(slot) + ":holdfast"
}

// free reports whether nobody has a slot with this record, nor a claim of it.
func (r stored) free(now int64) bool { return !r.corrupt && !r.live(now) }

// rest returns the fields of a record that stay when its owner goes. If that owner is never, its stamps did not win a
// majority, and they get a tombstone.
func (r stored) rest(never string) nodescript.Record {
	left := nodescript.Record{Seen: r.Seen, Waiting: r.Waiting, Leased: r.Leased}
	switch {
	case r.Owner == "" || r.Token == 0:
	case r.Owner == never:
		left.Seen = max(left.Seen, r.Token+1)
	default:
		left.Leased = max(left.Leased, r.Token)
	}
	return left
}

// waiters returns the members that wait, in their order.
func (q slots) waiters() []waiter {
	all, _ := q.n.queue(q.queue)
	return slices.DeleteFunc(slices.Clone(all), func(w waiter) bool { return w.ticket < 0 })
}

// enter gives a member its place in the queue unless it has one.
func (q slots) enter(ticket int64, member string) error {
	all, err := q.n.queue(q.queue)
	if err != nil || rank(all, member) >= 0 {
		return err
	}
	all = append(slices.Clone(all), waiter{ticket, member})
	slices.SortFunc(all, waiter.compare)
	if q.n.keys[q.queue] == nil {
		q.n.keys[q.queue] = &value{}
	}
	q.n.keys[q.queue].queue = all
	return nil
}

func (q slots) stays() {
	q.n.wrote()
	if v := q.n.keys[q.queue]; v != nil {
		v.expires = q.n.Clock()/1000 + nodescript.QueueKept.Milliseconds()
	}
}

// drop removes the entry of a claim of a slot.
func (q slots) drop(slot int) {
	q.n.wrote()
	all, _ := q.n.queue(q.queue)
	for _, w := range all {
		if w.ticket == int64(-1-slot) {
			_ = q.n.quit(q.queue, w.owner)
		}
	}
}

// holdsClaim returns the member with a claim of a slot, "" if there is none.
func (q slots) holdsClaim(slot int) string {
	all, _ := q.n.queue(q.queue)
	for _, w := range all {
		if w.ticket == int64(-1-slot) {
			return w.owner
		}
	}
	return ""
}

func (q slots) put(slot int, r nodescript.Record) {
	q.n.keepText(q.key(slot), r.String(), stays(q.s), false)
}

// claim reserves a slot for a member.
func (q slots) claim(slot int, old stored, never, member string, expiry int64) {
	q.drop(slot)
	_ = q.enter(int64(-1-slot), member)
	all, _ := q.n.queue(q.queue)
	all = slices.Clone(all)
	all[rank(all, member)].ticket = int64(-1 - slot)
	slices.SortFunc(all, waiter.compare)
	q.n.keys[q.queue].queue = all
	r := old.rest(never)
	r.Expiry, r.Owner = expiry, member[4:]
	q.put(slot, r)
}

func (q slots) soon() int64 { return q.n.now() + q.s.config.Claim().Microseconds() }

// usable returns the number of slots that a member can use.
func usable(member string) int {
	k, err := strconv.Atoi(member[:min(4, len(member))])
	if err != nil {
		return 0
	}
	return k
}

// tell tells a member that it has a claim of a slot, and reports whether anybody hears it.
func (q slots) tell(slot int, seen int64, member string) bool {
	owner := member[4:]
	return handable(owner) && q.n.publish(nodescript.Inbox(client(owner)),
		news(seen, owner, node.Call{Keys: []string{q.key(slot)}}, false)) > 0
}

// next gives a free slot to the first waiter that can use it and hears of it. It returns that member, "" if there is
// none. If that member is me, next makes no claim.
func (q slots) next(slot int, old stored, me string) string {
	for _, w := range q.waiters() {
		if w.owner == me {
			return me
		}
		if usable(w.owner) <= slot {
			continue
		}
		if !q.tell(slot, old.rest("").Seen, w.owner) {
			_ = q.n.quit(q.queue, w.owner)
			continue
		}
		q.claim(slot, old, "", w.owner, q.soon())
		return w.owner
	}
	return ""
}

// reach returns the largest number of slots that a waiter can use, 0 if nobody waits. If many wait, it returns the
// largest number that any caller may use, and does not look at each waiter.
func (q slots) reach() (largest int) {
	all := q.waiters()
	if len(all) >= 64 {
		return nodescript.MostSlots
	}
	for _, w := range all {
		largest = max(largest, usable(w.owner))
	}
	return largest
}

// place returns the slot that the owner has besides the one that it asks for with the stamp T, -1 if none. A key of
// another type is no slot.
func (q slots) place(asked int, member, from string, T int64) int {
	has := func(slot int) bool {
		old, err := q.n.record(q.key(slot))
		return slot != asked && err == nil && !old.corrupt && old.live(q.n.now()) && old.Owner == member[4:] && old.Token < T
	}
	if from != "" {
		if slot := int(number(from)); has(slot) {
			return slot
		}
	}
	all, _ := q.n.queue(q.queue)
	at := rank(all, member)
	if at < 0 || all[at].ticket >= 0 {
		return -1
	}
	slot := int(-1 - all[at].ticket)
	if has(slot) {
		return slot
	}
	old, _ := q.n.record(q.key(slot))
	if slot != asked || old.text[min(65, len(old.text)):] != member[4:] {
		_ = q.n.quit(q.queue, member)
	}
	return -1
}

// acquireSlot grants a slot. Its args are the head of the record, a wish, the owner, k, the slot, and the slot from
// which the owner moves. The wish is "", a ticket, or the owner that passes the slot.
func (n *Node) acquireSlot(s script, c node.Call) (string, error) {
	if answer, err := n.guarded(s); answer != "" || err != nil {
		return answer, err
	}
	q := slots{n, s, c.Keys[1]}
	wants, owner, slot, k := c.Args[1], c.Args[2], int(number(c.Args[4])), int(number(c.Args[3]))
	member, ticket, place := c.Args[3]+owner, len(wants) == 16, -1
	_, err := n.queue(q.queue)
	if err != nil {
		return "", err
	}
	_, busy := n.keys[q.queue]
	held := func(kind string, left int64, offer, holder string) (string, error) {
		at := noRank
		if ticket {
			at = printedRank(q.waiters(), member)
		}
		return "H" + kind + nodescript.Micros(left) + at + offer + holder, nil
	}
	offer := func(slot int) string { return fmt.Sprintf("%04d", slot) }
	const none = "----"
	if busy {
		stamp, w := number(c.Args[0][:16]), s.config.Window.Microseconds()
		if answer := n.offClock(stamp-w, stamp+w); answer != "" {
			return answer, nil
		}
		old, err := n.record(c.Keys[0])
		if err != nil {
			return "", err
		}
		place = q.place(slot, member, c.Args[5], number(c.Args[0][:16]))
		q.stays()
		switch {
		case place >= 0 && old.live(n.now()) && old.Token == 0 && old.Owner != owner:
			// The two owners exchange their places.
			if other := q.holdsClaim(slot); other != "" && other[4:] == old.Owner && usable(other) > place {
				mine, _ := n.record(q.key(place))
				q.claim(place, mine, owner, other, old.Expiry)
				q.tell(place, mine.rest(owner).Seen, other)
				q.claim(slot, old, "", member, q.soon())
				place = -1
			}
		case place < 0 && old.free(n.now()) && number(c.Args[0][:16]) > old.Seen:
			if !old.there && n.evicted() {
				return "N", nil
			}
			if ticket {
				if err := q.enter(number(wants), member); err != nil {
					return "", err
				}
			}
			if first := q.next(slot, old, member); first != "" && first != member {
				return held("c", s.config.Claim().Microseconds(), none, first[4:])
			}
		}
	}
	from := wants
	if ticket {
		from = ""
	}
	said, err := n.acquire(s, node.Call{Keys: c.Keys[:1], Args: []string{c.Args[0], "", from, owner}})
	if err != nil {
		return "", err
	}
	switch said[0] {
	case 'H':
	case 'G':
		if !busy {
			return "G0", nil
		}
		_ = n.quit(q.queue, member)
		q.drop(slot)
		if place >= 0 {
			mine, _ := n.record(q.key(place))
			q.put(place, mine.rest(owner))
			mine, _ = n.record(q.key(place))
			q.next(place, mine, "")
		}
		return granted(len(q.waiters()) > 0), nil
	default:
		return said, nil
	}
	kind, left, holder := said[1:2], number(said[2:18]), said[24:]
	switch {
	case place >= 0:
		return held(kind, left, offer(place), holder)
	case ticket:
		if n.Full && !busy {
			return "", oom
		}
		if err := q.enter(number(wants), member); err != nil {
			return "", err
		}
		q.stays()
	case q.reach() >= k:
		return held(kind, left, none, holder)
	}
	found, soonest := none, int64(9_999_999_999_999_999)
	for i := 1; i < k; i++ {
		at := (slot + i) % k
		old, err := n.record(q.key(at))
		if err != nil { // another type
			continue
		}
		if !old.free(n.now()) {
			if !old.corrupt {
				soonest = min(soonest, old.Expiry)
			}
			continue
		}
		if !ticket {
			if at < q.reach() { // a waiter can use it
				continue
			}
			found = offer(at)
			break
		}
		if !old.there && n.evicted() {
			return "N", nil
		}
		if q.next(at, old, member) == member {
			q.claim(at, old, "", member, q.soon())
			found = offer(at)
		}
		if len(q.waiters()) == 0 {
			break
		}
	}
	if ticket && found != none {
		return held("c", s.config.Claim().Microseconds(), found, owner)
	}
	if found == none {
		left = min(left, soonest-n.now())
	}
	return held(kind, left, found, holder)
}

// releaseSlot gives a slot back and takes its owner out of the queue. Its args are those of release, k, the slot or "",
// and "1" if the owner keeps its place in the queue.
func (n *Node) releaseSlot(s script, c node.Call) (string, error) {
	q := slots{n, s, c.Keys[1]}
	owner, now := c.Args[0], n.now()
	_, waits := n.keys[q.queue]
	slot, said := -1, "D"
	var expiry int64
	if c.Args[5] != "" {
		slot = int(number(c.Args[5]))
		old, err := n.record(c.Keys[0])
		if err != nil {
			return "", err
		}
		expiry = old.Expiry
		if said, err = n.release(s, node.Call{Keys: c.Keys[:1], Args: c.Args[:4]}); err != nil {
			return "", err
		}
	}
	if !waits {
		return said, nil
	}
	if c.Args[6] == "0" {
		all, _ := n.queue(q.queue)
		if at := rank(all, c.Args[4]+owner); at >= 0 {
			claim := int(-1 - all[at].ticket)
			_ = n.quit(q.queue, c.Args[4]+owner)
			if claim >= 0 && claim != slot {
				old, _ := n.record(q.key(claim)) // of another type: there is no claim
				if old.live(now) && old.Token == 0 && old.Owner == owner {
					q.put(claim, old.rest(""))
					old, _ = n.record(q.key(claim))
					q.next(claim, old, "")
				}
			}
		}
	}
	if slot >= 0 && said == "D" {
		q.drop(slot)
		old, err := n.record(c.Keys[0])
		if err != nil {
			return "", err
		}
		if sane := now-number(c.Args[2]) <= s.config.Quarantine().Microseconds() || now < expiry; sane && old.free(now) {
			q.next(slot, old, "")
		}
	}
	return said, nil
}
