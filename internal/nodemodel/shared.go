package nodemodel

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// sharing is the data that the scripts of readers read first.
type sharing struct {
	stored
	readers readers
	has     reader // the owner's entry
	is      bool   // the owner has an entry
}

// share reads the record of a name and the entry of an owner. It reads no other entry, so those may be corrupt. none is
// the answer of a node that forgot the readers.
func (n *Node) share(c node.Call, owner, none string) (b sharing, answer string, err error) {
	if b.stored, err = n.record(c.Keys[0]); err != nil {
		return b, "", err
	}
	if b.corrupt {
		return b, "C", nil
	}
	if !b.there || !b.Shared {
		return b, "", nil
	}
	if b.readers, err = n.readers(c); err != nil {
		return b, "", err
	}
	if !b.readers.there {
		n.forgot(c, b.stored)
		return b, none, nil
	}
	v := n.keys[nodescript.ReadersKey(c.Keys[0])]
	_, _, ok := twoTokens(v.hash[noted])
	text, is := v.hash[owner]
	_, _, fine := twoTokens(text)
	if !ok || is && !fine {
		return b, "C", nil
	}
	b.has, b.is = b.readers.entry(owner)
	return b, "", nil
}

// wrote notes a write that a full memory permits, such as DEL. Redis then permits all later writes of the same script,
// also those of other calls that travel with this one.
func (n *Node) wrote() { n.Full = false }

// acquireShared adds a reader. Its args are T and expiry, the TTL in ms, what it wants, and the owner: see acquire.
func (n *Node) acquireShared(s script, c node.Call) (string, error) {
	T, expiry := number(c.Args[0][:16]), number(c.Args[0][16:])
	if answer, err := n.door(s, T); answer != "" || err != nil {
		return answer, err
	}
	now, queue, ticket, from, owner := n.now(), queueKey(c.Keys[0]), "", c.Args[2], c.Args[3]
	if len(from) == 16 {
		ticket, from = from, ""
	}
	old, answer, err := n.share(c, owner, "N")
	if answer != "" || err != nil {
		return answer, err
	}
	live, alive := old.live(now), old.is && now < old.has.expiry
	passed := live && old.Owner == from
	least := max(old.Seen, old.has.token)
	switch {
	case !old.there && n.evicted():
		return "N", nil
	case alive && old.has.token == T:
		return granted(old.Waiting), nil // a repeated command
	case live && !passed:
		return n.wait(c, old.stored, owner, ticket, reader{owner: old.Owner, token: old.Token, expiry: old.Expiry})
	case T <= least:
		return stale(s, now, least), nil
	}
	if from != "" && old.Expiry != 0 && old.Owner == from {
		expiry = max(expiry, old.Expiry) // a downgrade never shortens the lease
	} else {
		expiry = max(expiry, old.has.expiry)
	}
	leased := max(old.Leased, old.token())
	if from != "" && old.Expiry != 0 && old.Owner == from && old.token() > 0 {
		leased = max(leased, old.token()+1) // a pass ends the lease before
	}
	p := n.plain(c)
	if p.foreign(nodescript.Marker, old.Owner) {
		return "Hf" + n.left(p.key) + noRank + head(p.text, 256), nil
	}
	given := from != "" && old.Expiry != 0 && old.Owner == from
	if old.Waiting && !alive && !passed {
		blocked, err := n.writerBefore(queue, ticket, leased)
		if err != nil {
			return "", err
		}
		if blocked {
			r, answer, err := n.readersOf(c, old.stored)
			if answer != "" || err != nil {
				return answer, err
			}
			if live := r.alive(now); len(live) > 0 {
				return n.wait(c, old.stored, owner, ticket, named(live))
			}
			if ticket != "" {
				if err := n.join(queue, ticket, owner); err != nil {
					return "", err
				}
			}
			h := handing{seen: old.Seen, leased: leased, above: max(old.Seen, r.seen), marked: old.Shared}
			if next := n.handOff(s, c, h); next != "" {
				q, _ := n.queue(queue)
				return "Hc" + nodescript.Micros(s.config.Claim().Microseconds()) + printedRank(q, owner) + next, nil
			}
			n.wrote()
		}
	}
	return n.admitReader(s, c, old, reader{owner: owner, token: T, expiry: expiry}, leased, p, given)
}

// token returns the token of the record's owner, 0 if the record was released.
func (r stored) token() int64 {
	if r.Expiry == 0 {
		return 0
	}
	return r.Token
}

// writerBefore reports whether a writer with an earlier ticket waits and hears. It removes writers that do not hear,
// and leases that wait for a repair but have ended. Without a ticket every place is earlier.
func (n *Node) writerBefore(key, ticket string, leased int64) (bool, error) {
	q, err := n.queue(key)
	if err != nil {
		return false, err
	}
	for _, w := range slices.Clone(q) {
		if ticket != "" && w.ticket >= number(ticket) {
			break
		}
		if nodescript.IsReader(w.owner) {
			continue
		}
		over := w.ticket < 0 && -w.ticket < leased
		if !over && handable(w.owner) && n.listens(nodescript.Inbox(client(w.owner))) {
			return true, nil
		}
		_ = n.quit(key, w.owner)
		n.wrote()
	}
	return false, nil
}

// admitReader grants: it writes the reader's entry, and lets readers at the front of the queue in. given says that a
// writer of the same process gave its lease to the reader.
func (n *Node) admitReader(s script, c node.Call, old sharing, mine reader, leased int64, p plain, given bool) (string, error) {
	queue, hash := queueKey(c.Keys[0]), nodescript.ReadersKey(c.Keys[0])
	waiting := false
	if !old.Shared && n.otherThanHash(hash) {
		return "", wrongType
	}
	if old.Waiting {
		if err := n.quit(queue, mine.owner); err != nil {
			return "", err
		}
		_, waiting = n.keys[queue]
	}
	if given { // the first write is a PEXPIRE
		n.wrote()
	}
	if n.Full {
		switch { // the first write
		case p.key != "" && p.text != nodescript.Marker, p.key == "" && !(old.Shared && n.sweeps(c, old, mine)):
			return "", oom
		}
	}
	n.wrote()
	if p.key != "" && p.text == nodescript.Marker {
		n.lengthen(p.key, number(c.Args[1]))
	} else if p.key != "" {
		n.setText(p.key, nodescript.Marker, number(c.Args[1]))
	}
	r := readers{seen: old.readers.seen, leased: old.readers.leased}
	if !old.Shared {
		n.setReaders(s, c, r)
	} else if n.period(old, mine) {
		for owner, text := range n.keys[hash].hash {
			if n.expired(owner, text, mine) {
				if a, _, ok := twoTokens(text); ok {
					r.leased = max(r.leased, a)
				}
				delete(n.keys[hash].hash, owner)
			}
		}
	}
	n.keys[hash].hash[noted] = nodescript.Micros(max(r.seen, mine.token)) + nodescript.Micros(r.leased)
	n.setEntry(c, mine.owner, mine.token, mine.expiry)
	fresh := old.Shared && nodescript.Micros(old.readers.seen)[:8] == nodescript.Micros(mine.token)[:8]
	n.stay(s, hash, !fresh)
	is := nodescript.Record{Seen: old.Seen, Waiting: waiting, Shared: true, Leased: leased}
	if !fresh || n.keys[c.Keys[0]].text != is.String() {
		n.setText(c.Keys[0], is.String(), stays(s))
	}
	if waiting {
		n.handOff(s, c, handing{seen: old.Seen, leased: leased, above: old.Seen, marked: true, beside: true})
		_, waiting = n.keys[queue]
	}
	return granted(waiting), nil
}

// period reports whether a grant is the first one in a period of 10 s.
func (n *Node) period(old sharing, mine reader) bool {
	return nodescript.Micros(old.readers.seen)[:9] != nodescript.Micros(mine.token)[:9]
}

// sweeps reports whether a grant removes expired entries.
func (n *Node) sweeps(c node.Call, old sharing, mine reader) bool {
	if !n.period(old, mine) {
		return false
	}
	for owner, text := range n.keys[nodescript.ReadersKey(c.Keys[0])].hash {
		if n.expired(owner, text, mine) {
			return true
		}
	}
	return false
}

// expired reports whether an entry of the hash is another reader's, and has expired. It compares text, as the script
// does.
func (n *Node) expired(owner, text string, mine reader) bool {
	return owner != noted && owner != mine.owner && len(text) == 32 && nodescript.Micros(n.now()) >= text[16:]
}

// extendShared moves the expiry of a reader's lease. Its args are those of extend.
func (n *Node) extendShared(s script, c node.Call) (string, error) {
	late, answer, err := n.doorOfExtend(s, c)
	if answer != "" || err != nil {
		return answer, err
	}
	now := n.now()
	owner, T, expiry, last, stamp := c.Args[0], number(c.Args[1]), number(c.Args[2]), number(c.Args[3]), number(c.Args[4])
	old, answer, err := n.share(c, owner, "N")
	if answer != "" || err != nil {
		return answer, err
	}
	leased, here := max(old.Leased, old.token()), old.is && old.has.token == T
	switch {
	case !old.there && n.evicted():
		return "N", nil
	case old.there && !here && n.endedFor(c, owner, T):
		return "Lx" + otherThan(owner, old.Owner), nil
	case old.live(now) && old.Token != 0:
		if old.Leased <= T && now <= last {
			n.wantBack(c, old.stored, owner, T, []reader{{owner: old.Owner, token: old.Token, expiry: old.Expiry}})
		}
		return "Ll" + old.Owner, nil
	case here:
		expiry = max(expiry, old.has.expiry)
	case leased > T, now > last, stamp <= old.Seen, old.has.token > T:
		return "Lg" + old.Owner, nil
	}
	p := n.plain(c)
	if p.foreign(nodescript.Marker, old.Owner) {
		return "Lf" + head(p.text, 256), nil
	}
	if !old.Shared && n.otherThanHash(nodescript.ReadersKey(c.Keys[0])) {
		return "", wrongType
	}
	if n.Full && !old.there && p.text != nodescript.Marker {
		return "", oom
	}
	if answer = "E"; !here || p.key != "" && p.text != nodescript.Marker {
		answer = "R"
	}
	ms := floorDiv(expiry-now) + 1
	if p.key != "" && p.text == nodescript.Marker {
		n.lengthen(p.key, ms)
	} else if p.key != "" {
		n.setText(p.key, nodescript.Marker, ms)
	}
	if !old.Shared {
		n.setReaders(s, c, readers{})
	}
	hash := nodescript.ReadersKey(c.Keys[0])
	n.keys[hash].hash[noted] = nodescript.Micros(max(old.readers.seen, T)) + nodescript.Micros(old.readers.leased)
	n.setEntry(c, owner, T, expiry)
	n.stay(s, hash, true)
	is := nodescript.Record{Seen: old.Seen, Waiting: old.Waiting, Shared: true, Leased: leased}
	n.setText(c.Keys[0], is.String(), stays(s))
	return answer + late, nil
}

// releaseShared removes a reader. Its args are those of release.
func (n *Node) releaseShared(s script, c node.Call) (string, error) {
	now, owner, highest, above := n.now(), c.Args[0], number(c.Args[1]), number(c.Args[2])
	old, err := n.record(c.Keys[0])
	if err == nil && !old.there {
		n.evicted()
	}
	is, answer, err := n.share(c, owner, "F")
	if answer != "" || err != nil {
		return answer, err
	}
	tomb, mine := above, is.is && is.has.token <= highest
	if highest > now+2*s.config.Window.Microseconds() {
		tomb = now + s.config.Window.Microseconds()
	}
	if mine {
		tomb = max(tomb, is.has.token+1)
	}
	tomb = max(tomb, is.Seen)
	if is.Waiting {
		_ = n.quit(queueKey(c.Keys[0]), owner)
	}
	hash := nodescript.ReadersKey(c.Keys[0])
	raise := func() {
		if v := n.keys[c.Keys[0]]; tomb > is.Seen {
			v.text = nodescript.Micros(tomb) + v.text[16:]
		}
	}
	if !mine {
		switch {
		case tomb > is.Seen && is.there:
			if is.Shared {
				n.lengthen(hash, stays(s))
			}
			n.lengthen(c.Keys[0], stays(s))
			raise()
		case tomb > is.Seen:
			n.wrote()
			n.setText(c.Keys[0], nodescript.Record{Seen: tomb}.String(), stays(s))
		}
		if c.Args[3] != "0" {
			return "F", nil
		}
		return "F" + n.gone(c, owner, is.stored, now), nil
	}
	n.wrote()
	delete(n.keys[hash].hash, owner)
	if c.Args[3] == "0" && is.has.token > is.readers.leased {
		n.keys[hash].hash[noted] = nodescript.Micros(is.readers.seen) + nodescript.Micros(is.has.token)
	}
	raise()
	r, err := n.readers(c)
	if err != nil {
		return "", err
	}
	if r.corrupt || is.live(now) {
		return "D", nil
	}
	p, live := n.plain(c), r.alive(now)
	if len(live) == 0 && p.text == nodescript.Marker {
		delete(n.keys, p.key)
		p = plain{}
	}
	sane := now-above <= s.config.Quarantine().Microseconds() || now < is.has.expiry
	if is.Waiting && sane && (!p.there || p.text == nodescript.Marker) {
		n.handOff(s, c, handing{
			seen: tomb, leased: is.Leased, above: max(tomb, is.readers.seen), marked: true, beside: len(live) > 0,
		})
	}
	return "D", nil
}

// leaveShared ends the lease of a reader and keeps the name shared. Its args are those of leave.
func (n *Node) leaveShared(s script, c node.Call) (string, error) {
	owner, T, until, left := c.Args[0], number(c.Args[1]), number(c.Args[2]), c.Args[3]
	old, answer, err := n.share(c, owner, "L")
	if answer != "" || err != nil {
		return answer, err
	}
	hash := n.keys[nodescript.ReadersKey(c.Keys[0])]
	switch {
	case !old.Shared:
		return "L" + n.gone(c, owner, old.stored, n.now()), nil
	case hash.hash[left] != "" && head(hash.hash[left], 16) <= c.Args[1]:
		return "D", nil // a repeated command
	case !old.is || old.has.token > T || old.has.token == 0:
		return "L" + n.gone(c, owner, old.stored, n.now()), nil
	}
	delete(hash.hash, owner)
	n.setEntry(c, left, old.has.token, until)
	if v := n.keys[c.Keys[0]]; T+1 > old.Seen {
		v.text = nodescript.Micros(T+1) + v.text[16:]
	}
	n.lengthen(nodescript.ReadersKey(c.Keys[0]), stays(s))
	n.lengthen(c.Keys[0], stays(s))
	if p := n.plain(c); p.text == nodescript.Marker {
		n.lengthen(p.key, max(floorDiv(until-n.now())+1, 1))
	}
	return "D", nil
}
