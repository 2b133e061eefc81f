package nodemodel

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// release gives a name back. Its args are owner, highest stamp, the same + 1, and "1" if no stamp ever won.
func (n *Node) release(s script, c node.Call) (string, error) {
	now := n.now()
	owner := c.Args[0]
	old, err := n.record(c.Keys[0])
	if err != nil {
		return "", err
	}
	if old.corrupt {
		return "C", nil
	}
	if !old.there {
		n.evicted()
	}
	if old.Waiting {
		_ = n.quit(queueKey(c.Keys[0]), owner) // whatever the key holds, the name is released
	}
	// tomb is the tombstone. A stamp that right nodes accept is at most 2 W ahead of this clock. For a stamp further
	// ahead the tombstone is limited, but it is always above the node's own grant.
	above, W := number(c.Args[2]), s.config.Window.Microseconds()
	tomb, leased := above, old.Leased
	if number(c.Args[1]) > now+2*W {
		tomb = now + W
	}
	mine := old.Owner == owner && old.Token < above
	if mine {
		tomb = max(tomb, old.Token+1)
	}
	if c.Args[3] == "0" && (mine || tomb == above && !n.forced(c, owner)) {
		// A lease ends itself and all earlier leases: this node repairs none of them any more. If an operator has ended
		// the lease before, a later lease may have a token below the stamps of this release.
		leased = max(leased, tomb)
	}
	tomb = max(tomb, old.Seen)
	if mine {
		n.wrote()
		p := n.plain(c)
		if p.text == owner {
			delete(n.keys, p.key)
		}
		r := nodescript.Record{Seen: tomb, Waiting: old.Waiting, Shared: old.Shared, Leased: leased}
		if key := nodescript.ReadersKey(c.Keys[0]); old.Shared && c.Args[3] == "0" && old.Token != 0 {
			delete(n.keys, key) // its grant ended all readers here, and seen and leased are above them now
			r.Shared = false
		} else if old.Shared {
			n.lengthen(key, stays(s))
		}
		text := r.String()
		if v := n.keys[c.Keys[0]]; old.Token == number(c.Args[1]) && !old.Waiting && !old.Shared {
			v.text = text + old.text[len(text):] // it overwrites the beginning
			if p.text != owner {
				n.lengthen(c.Keys[0], stays(s))
			}
			return "D", nil
		}
		n.keepText(c.Keys[0], text, stays(s), p.text != owner)
		// If the lease or claim seems to have ended long ago by this clock, the name is not handed on.
		sane := now-above <= s.config.Quarantine().Microseconds() || now < old.Expiry
		if old.Waiting && (!p.there || p.text == owner) && sane {
			n.handOff(s, c, handing{seen: tomb, leased: leased, above: tomb, marked: r.Shared})
		}
		return "D", nil
	}
	if p := n.plain(c); old.Owner != owner && p.text == owner {
		n.wrote()
		delete(n.keys, p.key) // somebody deleted only the record
	}
	if tomb > old.Seen || leased > old.Leased {
		n.wrote()
		text := nodescript.Record{Seen: tomb, Leased: leased}.String()
		if old.there {
			text = text[:16] + old.text[16:49] + text[49:] + old.text[65:]
		}
		if old.Shared {
			n.lengthen(nodescript.ReadersKey(c.Keys[0]), stays(s))
		}
		n.keepText(c.Keys[0], text, stays(s), true)
	}
	if old.Waiting && old.Shared && !old.live(now) {
		// A writer that leaves the queue wakes the readers directly behind it.
		n.handOff(s, c, handing{seen: tomb, leased: leased, above: tomb, marked: true, beside: true})
	}
	if c.Args[3] != "0" {
		return "F", nil
	}
	return "F" + n.gone(c, owner, old, now), nil
}

// gone returns what the node knows about the loss of a lease that it does not have: the kind and the owner.
func (n *Node) gone(c node.Call, owner string, old stored, now int64) string {
	if old.corrupt {
		old = stored{}
	}
	holder := ""
	if old.live(now) && old.Token != 0 {
		holder = otherThan(owner, old.Owner)
	}
	p := n.plain(c)
	switch {
	case n.forced(c, owner):
		return "x" + holder
	case holder != "":
		return "l" + holder
	case p.foreign(owner, old.Owner):
		return "f" + head(p.text, 256)
	}
	return ""
}

// leave ends a lease and keeps the name taken. Its args are owner, T, the end, and the owner under which the name stays
// taken.
func (n *Node) leave(s script, c node.Call) (string, error) {
	now := n.now()
	owner, T, until, left := c.Args[0], number(c.Args[1]), number(c.Args[2]), c.Args[3]
	old, err := n.record(c.Keys[0])
	switch {
	case err != nil:
		return "", err
	case old.Token == T && old.Owner == left:
		return "D", nil // a repeated command
	case old.Token != T || old.Owner != owner:
		return "L" + n.gone(c, owner, old, now), nil
	}
	ms := max(floorDiv(until-now)+1, 1)
	if p := n.plain(c); p.text == owner {
		n.setText(p.key, left, ms)
	}
	r := nodescript.Record{
		Seen: max(old.Seen, T+1), Token: T, Expiry: until, Waiting: old.Waiting, Shared: old.Shared,
		Leased: max(old.Leased, T+1), Owner: left,
	}
	if old.Shared {
		n.lengthen(nodescript.ReadersKey(c.Keys[0]), stays(s))
	}
	n.keepText(c.Keys[0], r.String(), stays(s), true)
	return "D", nil
}

// leaveQueue removes an owner from the queue. Its arg is owner.
func (n *Node) leaveQueue(c node.Call) (string, error) {
	if err := n.quit(queueKey(c.Keys[0]), c.Args[0]); err != nil {
		return "", err
	}
	return "D", nil
}
