package nodemodel

import (
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// stored is the record of a name as a node finds it.
type stored struct {
	nodescript.Record
	there   bool
	corrupt bool // too short to be a record
}

// live: somebody holds the name, or has a claim to it.
func (r stored) live(now int64) bool { return r.Owner != "" && now < r.Expiry }

func (n *Node) record(key string) (r stored, err error) {
	text, there, err := n.text(key)
	if err != nil || !there {
		return r, err
	}
	r.there = true
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
func (n *Node) door(s script, earliest, latest string) (string, error) {
	guard, there, err := n.text(nodescript.GuardKey)
	if err != nil {
		return "", err
	}
	if !there || guard != s.guard() {
		return "N", nil
	}
	return n.offClock(earliest, latest), nil
}

func (n *Node) offClock(earliest, latest string) string {
	if now := n.now(); now < number(earliest) || now > number(latest) {
		return "O" + nodescript.Micros(now)
	}
	return ""
}

// acquire: args record, ttl ms, record kept ms, stamp - W, stamp + W.
func (n *Node) acquire(s script, c node.Call) (string, error) {
	if answer, err := n.door(s, c.Args[3], c.Args[4]); answer != "" || err != nil {
		return answer, err
	}
	now := n.now()
	mine, err := nodescript.ParseRecord(c.Args[0])
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
		return "G", nil // a repeated command
	case old.there && mine.Token <= old.Seen:
		if old.Seen > now+s.config.Window.Microseconds() {
			return "P" + nodescript.Micros(old.Seen), nil
		}
		return "S" + nodescript.Micros(old.Seen), nil
	case live && old.Owner != mine.Owner:
		kind := "l"
		if old.Token == 0 {
			kind = "c"
		}
		return "H" + kind + nodescript.Micros(old.Expiry-now) + old.Owner, nil
	case n.Full:
		return "", oom
	}
	if p := n.plain(c); p.foreign(mine.Owner, old.Owner) {
		return "Hf" + n.left(p.key) + head(p.text, 256), nil
	} else if p.key != "" {
		n.setText(p.key, mine.Owner, number(c.Args[1]))
	}
	n.setText(c.Keys[0], mine.String(), number(c.Args[2]))
	return "G", nil
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

// release: args owner, highest stamp + 1, record kept ms.
func (n *Node) release(s script, c node.Call) (string, error) {
	now := n.now()
	owner, keep := c.Args[0], number(c.Args[2])
	old, err := n.record(c.Keys[0])
	if err != nil {
		return "", err
	}
	if old.corrupt {
		return "C", nil
	}
	// The tombstone: at most W ahead of the clock, never below what was seen.
	tomb := max(old.Seen, min(number(c.Args[1]), now+s.config.Window.Microseconds()))
	if old.Owner == owner {
		if p := n.plain(c); p.text == owner {
			delete(n.keys, p.key)
		}
		tomb = max(tomb, old.Token+1) // whatever the clock says: what was granted here is over
		n.setText(c.Keys[0], nodescript.Record{Seen: tomb}.String(), keep)
		return "D", nil
	}
	if tomb > old.Seen {
		old.Seen = tomb
		n.setText(c.Keys[0], old.String(), max(0, floorDiv(old.Expiry-now))+keep)
	}
	return "F", nil
}

// extend: args owner, T, stamp + ttl, deadline + W, record kept ms, stamp - W, stamp + W.
func (n *Node) extend(s script, c node.Call) (string, error) {
	if answer, err := n.door(s, c.Args[5], c.Args[6]); answer != "" || err != nil {
		return answer, err
	}
	now := n.now()
	owner, T, expiry := c.Args[0], number(c.Args[1]), number(c.Args[2])
	old, err := n.record(c.Keys[0])
	if err != nil {
		return "", err
	}
	here := old.Owner == owner && old.Token == T
	switch {
	case old.corrupt:
		return "C", nil
	case here:
		expiry = max(expiry, old.Expiry)
	case old.live(now) && old.Owner != owner:
		return "Ll" + old.Owner, nil
	case old.Seen > T, now > number(c.Args[3]):
		// A later lease was seen here, or the owner itself no longer believes.
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
	r := nodescript.Record{Seen: max(old.Seen, T), Token: T, Expiry: expiry, Waiting: old.Waiting, Owner: owner}
	n.setText(c.Keys[0], r.String(), ms+number(c.Args[4]))
	return answer, nil
}

// leave: args owner, T, taken until, the name it is kept under, record kept ms.
func (n *Node) leave(c node.Call) (string, error) {
	now := n.now()
	owner, T, until, left := c.Args[0], number(c.Args[1]), number(c.Args[2]), c.Args[3]
	old, err := n.record(c.Keys[0])
	switch {
	case err != nil:
		return "", err
	case old.Token == T && old.Owner == left:
		return "D", nil // a repeated command
	case old.Token != T || old.Owner != owner:
		return "L", nil
	}
	ms := max(floorDiv(until-now)+1, 1)
	if p := n.plain(c); p.text == owner {
		n.setText(p.key, left, ms)
	}
	r := nodescript.Record{Seen: max(old.Seen, T+1), Token: T, Expiry: until, Waiting: old.Waiting, Owner: left}
	n.setText(c.Keys[0], r.String(), ms+number(c.Args[4]))
	return "D", nil
}

// floorDiv is µs in whole ms, rounded down also below zero.
func floorDiv(us int64) int64 {
	if us < 0 {
		return -((-us + 999) / 1000)
	}
	return us / 1000
}
