package nodemodel

import (
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// stored is the record of a name as a node finds it.
type stored struct {
	nodescript.Record
	text    string
	there   bool
	corrupt bool // too short to be a record
}

// stays is the PX of a record.
func stays(s script) int64 { return s.config.Stays().Milliseconds() }

// live: somebody holds the name, or has a claim to it.
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

// plain is the plain key of a name as a node finds it; absent for a private lock.
type plain struct {
	key   string // "" = private
	there bool
	text  string
	other bool // it holds another type
}

func (n *Node) plain(c node.Call) plain {
	if len(c.Keys) < 2 {
		return plain{}
	}
	text, there, err := n.text(c.Keys[1])
	return plain{c.Keys[1], there, text, err != nil}
}

// foreign: it is there and belongs neither to owner nor to the owner before.
func (p plain) foreign(owner, before string) bool {
	return p.there && (p.other || p.text == "" || p.text != owner && p.text != before)
}

// door answers a call that may not come in: the node does not vote under the
// configuration of the script, or the stamp is more than W from its clock.
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

// leased is the highest token that may have been a lease's, if owner is to have the name
// next. What an owner before it had may have been one.
func (r stored) leased(owner string) int64 {
	if r.Owner != "" && r.Owner != owner {
		return max(r.Leased, r.Token)
	}
	return r.Leased
}

// acquire: args head of the record, ttl ms, "", a ticket, or from, which is longer, and owner.
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
	live := old.live(now)
	switch {
	case old.corrupt:
		return "C", nil
	case live && old.Owner == mine.Owner && old.Token == mine.Token:
		return granted(old.Waiting), nil // a repeated command
	case live && old.Owner != mine.Owner && old.Owner != from:
		return n.wait(c, old, mine.Owner, ticket)
	case old.there && mine.Token <= old.Seen:
		if old.Seen > now+s.config.Window.Microseconds() {
			return "P" + nodescript.Micros(old.Seen), nil
		}
		return "S" + nodescript.Micros(old.Seen), nil
	case !old.there && n.evicted():
		return "N", nil
	case n.Full && !old.Waiting:
		return "", oom // what follows begins with a SET
	}
	mine.Leased = old.leased(mine.Owner)
	p := n.plain(c)
	if p.foreign(mine.Owner, old.Owner) {
		return "Hf" + n.left(p.key) + noRank + head(p.text, 256), nil
	}
	if old.Waiting && !live {
		// Free, but somebody waits: the first of the queue is next. Who does not wait
		// comes after all who do.
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
			if next := n.handOff(s, c, old.Seen, mine.Leased); next != "" {
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
	text := mine.String()
	if old.there && len(old.text) == len(text) && nodescript.Micros(old.Seen)[:8] == text[:8] {
		n.keys[c.Keys[0]].text = text // its PX stays as it is
	} else {
		n.setText(c.Keys[0], text, stays(s))
	}
	return granted(mine.Waiting), nil
}

// granted is a yes that tells whether others wait.
func granted(waiting bool) string {
	if waiting {
		return "G1"
	}
	return "G0"
}

// wait answers owner that somebody else has the name, and lets it join the queue if it
// has a ticket.
func (n *Node) wait(c node.Call, old stored, owner, ticket string) (string, error) {
	place := noRank
	if ticket != "" {
		queue := queueKey(c.Keys[0])
		if err := n.join(queue, ticket, owner); err != nil {
			return "", err
		}
		n.keys[queue].expires = n.Clock()/1000 + nodescript.QueueKept.Milliseconds()
		place = printedRank(n.keys[queue].queue, owner)
		old.Waiting = true
		n.keys[c.Keys[0]].text = old.String()
	}
	kind := "l"
	if old.Token == 0 {
		kind = "c"
	}
	return "H" + kind + nodescript.Micros(old.Expiry-n.now()) + place + old.Owner, nil
}

// left is how long a key will be there, as scripts print it.
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

// extend: args owner, T, stamp + ttl, deadline + W, stamp.
func (n *Node) extend(s script, c node.Call) (string, error) {
	if answer, err := n.door(s, number(c.Args[4])); answer != "" || err != nil {
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
		leased = max(leased, old.Token) // which may have been a lease
	}
	switch {
	case old.corrupt:
		return "C", nil
	case !old.there && n.evicted():
		return "N", nil
	case here:
		expiry = max(expiry, old.Expiry)
	case old.live(now) && old.Owner != owner && old.Token != 0:
		// What another has here is a part, as long as the owner believes.
		if old.Leased <= T && now <= number(c.Args[3]) {
			n.wantBack(c, old, owner, T)
		}
		return "Ll" + old.Owner, nil
	case leased > T, now > number(c.Args[3]):
		// A later lease may have been here, or the owner itself no longer believes.
		return "Lg" + old.Owner, nil
	}
	p := n.plain(c)
	if p.foreign(owner, old.Owner) {
		return "Lf" + head(p.text, 256), nil
	}
	// A full memory takes nothing new; what is here already may stay.
	if n.Full && !old.there && p.text != owner {
		return "", oom
	}
	ms := floorDiv(expiry-now) + 1
	answer := "E"
	if !here || p.key != "" && p.text != owner {
		answer = "R"
	}
	if p.key != "" {
		n.setText(p.key, owner, ms)
	}
	r := nodescript.Record{Seen: max(old.Seen, T), Token: T, Expiry: expiry, Waiting: old.Waiting, Leased: leased, Owner: owner}
	n.setText(c.Keys[0], r.String(), stays(s))
	return answer, nil
}

// wantBack gives a lease that cannot be repaired here yet the first place of the queue, and tells who has a part of the name.
func (n *Node) wantBack(c node.Call, old stored, owner string, T int64) {
	queue := queueKey(c.Keys[0])
	if n.place(queue, -T, owner) != nil {
		return
	}
	n.keys[queue].expires = n.Clock()/1000 + nodescript.QueueKept.Milliseconds()
	has := old.Owner
	if old.Waiting = true; handable(has) {
		n.publish(nodescript.Inbox(client(has)), news(old.Token, has, c, true))
	}
	n.keys[c.Keys[0]].text = old.String()
}

// floorDiv is µs in whole ms, rounded down also below zero.
func floorDiv(us int64) int64 {
	if us < 0 {
		return -((-us + 999) / 1000)
	}
	return us / 1000
}
