package nodemodel

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// stored is a record as it is stored on a node.
type stored struct {
	nodescript.Record
	text    string
	there   bool
	corrupt bool // too short to be a record
}

// stays returns the time for which a node keeps a record (PX), in ms.
func stays(s script) int64 { return s.config.Stays().Milliseconds() }

// live reports whether an owner holds the name or has a claim to it.
func (r stored) live(now int64) bool { return r.Owner != "" && now < r.Expiry }

func (n *Node) record(key string) (r stored, err error) {
	text, there, err := n.text(key)
	if err != nil || !there {
		return r, err
	}
	r.there, r.text = true, text
	if r.Record, err = nodescript.ParseRecord(text); err != nil {
		r.corrupt = true
	}
	return r, nil
}

// plain is the plain key of a name as it is stored on a node. It is absent for a private lock.
type plain struct {
	key   string // "" = private
	there bool
	text  string
	other bool // the key has another type
}

func (n *Node) plain(c node.Call) plain {
	if len(c.Keys) < 2 {
		return plain{}
	}
	text, there, err := n.text(c.Keys[1])
	return plain{c.Keys[1], there, text, err != nil}
}

// foreign reports whether the key exists and belongs neither to owner nor to the owner before.
func (p plain) foreign(owner, before string) bool {
	return p.there && (p.other || p.text == "" || p.text != owner && p.text != before && p.text != nodescript.Marker)
}

// door returns the refusal of a call that this node must refuse. Either the node does not vote under the configuration
// of the script, or the stamp differs from its clock by more than W.
func (n *Node) door(s script, stamp int64) (string, error) {
	if answer, err := n.guarded(s); answer != "" || err != nil {
		return answer, err
	}
	w := s.config.Window.Microseconds()
	return n.offClock(stamp-w, stamp+w), nil
}

func (n *Node) guarded(s script) (string, error) {
	if s.inside {
		return "", nil
	}
	guard, there, err := n.text(nodescript.GuardKey)
	if err != nil {
		return "", err
	}
	if !there || guard != s.guard {
		return "N", nil
	}
	return "", nil
}

func (n *Node) offClock(earliest, latest int64) string {
	if now := n.now(); now < earliest || now > latest {
		return "O" + nodescript.Micros(now)
	}
	return ""
}

// leased returns the highest token that may have been an earlier lease, if owner gets the name next. The grant of an
// owner before it may have been one.
func (r stored) leased(owner string) int64 {
	if r.Owner != "" && r.Owner != owner {
		return max(r.Leased, r.Token)
	}
	return r.Leased
}

// acquire grants a free name. Its args are the head of the record, the TTL in ms, a wish, and the owner. The wish is ""
// (the owner does not wait), a ticket, or the owner that passes the lock, which is longer than a ticket.
func (n *Node) acquire(s script, c node.Call) (string, error) {
	if answer, err := n.door(s, number(c.Args[0][:16])); answer != "" || err != nil {
		return answer, err
	}
	now, queue, ticket, from := n.now(), queueKey(c.Keys[0]), "", c.Args[2]
	if len(from) == 16 {
		ticket, from = from, ""
	}
	mine, err := nodescript.ParseRecord(c.Args[0] + nodescript.Micros(0) + c.Args[3])
	if err != nil {
		return "", err
	}
	old, err := n.record(c.Keys[0])
	if err != nil {
		return "", err
	}
	r, answer, err := n.readersOf(c, old)
	if answer != "" || err != nil {
		return answer, err
	}
	live, above := old.live(now), max(old.Seen, r.seen)
	alive := r.alive(now)
	switch {
	case old.corrupt:
		return "C", nil
	case live && old.Owner == mine.Owner && old.Token == mine.Token:
		return granted(old.Waiting), nil // a repeated command
	case live && old.Owner != mine.Owner && old.Owner != from:
		return n.wait(c, old, mine.Owner, ticket, reader{owner: old.Owner, token: old.Token, expiry: old.Expiry})
	case len(alive) > 0:
		return n.wait(c, old, mine.Owner, ticket, named(alive))
	case old.there && mine.Token <= above:
		return stale(s, now, above), nil
	case !old.there && n.evicted():
		return "N", nil
	case n.Full && !old.Waiting && !(old.Shared && len(c.Keys) < 2):
		return "", oom // the next write is a SET
	}
	mine.Leased = old.leased(mine.Owner)
	p := n.plain(c)
	if p.foreign(mine.Owner, old.Owner) {
		return "Hf" + n.left(p.key) + noRank + head(p.text, 256), nil
	}
	if old.Waiting && !live {
		// The name is free, but owners wait: the first of the queue is next. A caller without a ticket comes after all
		// waiters.
		if ticket != "" {
			if err := n.join(queue, ticket, mine.Owner); err != nil {
				return "", err
			}
		}
		q, err := n.queue(queue)
		if err != nil {
			return "", err
		}
		if len(q) > 0 && q[0].owner != mine.Owner {
			if next := n.handOff(s, c, handing{seen: old.Seen, leased: mine.Leased, above: above, marked: old.Shared}); next != "" {
				q, _ = n.queue(queue)
				return "Hc" + nodescript.Micros(s.config.Claim().Microseconds()) + printedRank(q, mine.Owner) + next, nil
			}
		}
	}
	if old.Waiting {
		if err := n.quit(queue, mine.Owner); err != nil {
			return "", err
		}
		_, mine.Waiting = n.keys[queue]
	}
	if p.key != "" {
		n.setText(p.key, mine.Owner, number(c.Args[1]))
	}
	if old.Shared {
		// The grant removes expired readers. If a later lease may have been here, it also removes the two tokens of
		// readers.
		n.wrote()
		delete(n.keys, nodescript.ReadersKey(c.Keys[0]))
		if mine.Shared = mine.Leased < r.seen; mine.Shared {
			n.setReaders(s, c, readers{seen: r.seen, leased: max(r.leased, r.dead(now))})
		}
	}
	text := mine.String()
	if old.there && len(old.text) == len(text) && nodescript.Micros(old.Seen)[:8] == text[:8] {
		n.keys[c.Keys[0]].text = text // its expiry does not change
	} else {
		n.setText(c.Keys[0], text, stays(s))
	}
	return granted(mine.Waiting), nil
}

// granted returns the answer of a grant. It says whether others wait.
func granted(waiting bool) string {
	if waiting {
		return "G1"
	}
	return "G0"
}

// stale answers a token that is not above the highest one here.
func stale(s script, now, above int64) string {
	if above > now+s.config.Window.Microseconds() {
		return "P" + nodescript.Micros(above)
	}
	return "S" + nodescript.Micros(above)
}

// wait answers that another owner has the name. An owner with a ticket joins the queue.
func (n *Node) wait(c node.Call, old stored, owner, ticket string, has reader) (string, error) {
	place := noRank
	if ticket != "" {
		queue := queueKey(c.Keys[0])
		if err := n.join(queue, ticket, owner); err != nil {
			return "", err
		}
		n.keys[queue].expires = n.Clock()/1000 + nodescript.QueueKept.Milliseconds()
		place = printedRank(n.keys[queue].queue, owner)
		old.Waiting = true
		n.flag(c, old.Record)
	}
	kind, who := "l", has.owner
	switch {
	case has.token == 0:
		kind = "c"
	case has.crowd != nil:
		kind, who = "r", nodescript.PrintNamed(has.crowd)
	}
	return "H" + kind + nodescript.Micros(has.expiry-n.now()) + place + who, nil
}

// left returns the remaining life of a key, as scripts print it.
func (n *Node) left(key string) string {
	v, there := n.keys[key]
	if !there || v.expires == 0 {
		return forever
	}
	ms := v.expires - n.Clock()/1000
	if ms > 9e12 { // centuries
		return forever
	}
	return nodescript.Micros(ms * 1000)
}

// extend moves the expiry of a lease. Its args are owner, T, stamp + ttl, deadline + W, stamp.
func (n *Node) extend(s script, c node.Call) (string, error) {
	late, answer, err := n.doorOfExtend(s, c)
	if answer != "" || err != nil {
		return answer, err
	}
	now := n.now()
	owner, T, expiry := c.Args[0], number(c.Args[1]), number(c.Args[2])
	old, err := n.record(c.Keys[0])
	if err != nil {
		return "", err
	}
	here, leased := old.Owner == owner && old.Token == T, old.Leased
	if !here && old.Owner != "" {
		leased = max(leased, old.Token) // its grant may have been a lease
	}
	if !here && old.there && !old.corrupt && n.endedFor(c, owner, T) {
		return "Lx" + otherThan(owner, old.Owner), nil
	}
	var r readers
	var grants []reader
	granted := old.live(now) && old.Owner != owner && old.Token != 0
	if !here && !granted {
		var answer string
		if r, answer, err = n.readersOf(c, old); answer != "" || err != nil {
			return answer, err
		}
		grants = r.grants(now)
	}
	rleased := max(r.leased, r.dead(now))
	switch {
	case old.corrupt:
		return "C", nil
	case !old.there && n.evicted():
		return "N", nil
	case here:
		expiry = max(expiry, old.Expiry)
	case granted:
		// If the caller may still rely on its lease, the other owner's grant cannot be a lease: it is a partial grant.
		if old.Leased <= T && now <= number(c.Args[3]) {
			n.wantBack(c, old, owner, T, []reader{{owner: old.Owner, token: old.Token, expiry: old.Expiry}})
		}
		return "Ll" + old.Owner, nil
	case len(grants) > 0:
		if leased <= T && now <= number(c.Args[3]) {
			n.wantBack(c, old, owner, T, grants)
		}
		return "Ll" + grants[0].owner, nil
	case leased > T, now > number(c.Args[3]), rleased > T:
		// A later lease may have been here, or the owner no longer relies on its lease.
		return "Lg" + old.Owner, nil
	}
	p := n.plain(c)
	if p.foreign(owner, old.Owner) {
		return "Lf" + head(p.text, 256), nil
	}
	// A server whose memory is full accepts no new key. Existing keys stay.
	if n.Full && !old.there && p.text != owner {
		return "", oom
	}
	n.wrote()
	ms := floorDiv(expiry-now) + 1
	answer = "E"
	if !here || p.key != "" && p.text != owner {
		answer = "R"
	}
	if p.key != "" {
		n.setText(p.key, owner, ms)
	}
	if old.Shared && !here {
		n.setReaders(s, c, readers{seen: r.seen, leased: rleased}) // the call removes expired readers and claims
	}
	n.stay(s, nodescript.ReadersKey(c.Keys[0]), old.Shared)
	is := nodescript.Record{
		Seen: max(old.Seen, T), Token: T, Expiry: expiry, Waiting: old.Waiting, Shared: old.Shared, Leased: leased, Owner: owner,
	}
	n.setText(c.Keys[0], is.String(), stays(s))
	return answer + late, nil
}

// doorOfExtend does the same as door for a renewal. A renewal may be older than a window, until its own expiry: late is
// then the node's time, else "".
func (n *Node) doorOfExtend(s script, c node.Call) (late, answer string, err error) {
	now, stamp, w := n.now(), number(c.Args[4]), s.config.Window.Microseconds()
	old := stamp < now-w
	if old {
		stamp = now
	}
	if answer, err = n.door(s, stamp); answer != "" || err != nil {
		return "", answer, err
	}
	if number(c.Args[2]) <= now {
		return "", "O" + nodescript.Micros(now), nil
	}
	if old {
		late = nodescript.Micros(now)
	}
	return late, "", nil
}

// otherThan returns the present owner, "" if it is the caller itself.
func otherThan(owner, present string) string {
	if present == owner {
		return ""
	}
	return present
}

// wantBack gives a lease that cannot be repaired yet the first place of the queue. It also tells the owners of the
// partial grants.
func (n *Node) wantBack(c node.Call, old stored, owner string, T int64, others []reader) {
	queue := queueKey(c.Keys[0])
	if n.place(queue, -T, owner) != nil {
		return
	}
	n.keys[queue].expires = n.Clock()/1000 + nodescript.QueueKept.Milliseconds()
	old.Waiting = true
	n.flag(c, old.Record)
	for _, has := range others[:min(len(others), nodescript.MostClaims)] {
		if has.token != 0 && handable(has.owner) {
			n.publish(nodescript.Inbox(client(has.owner)), news(has.token, has.owner, c, true))
		}
	}
}

// floorDiv returns µs in whole ms, rounded down, also below zero.
func floorDiv(us int64) int64 {
	if us < 0 {
		return -((-us + 999) / 1000)
	}
	return us / 1000
}
