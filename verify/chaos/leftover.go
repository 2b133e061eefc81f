//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// thing is an entry that a node stores for a client.
type thing struct {
	kind, key string
	owner     string
}

// These are the kinds of things. Tombstones do not count, because they belong to no client and must stay.
const (
	aLease = "a lease"
	aClaim = "a claim"
	aPlace = "a place"
	aPlain = "a plain key"
	anEnd  = "a lease that has just expired" // it may have a plain key for another W
	anOdd  = "what nobody should have left"
)

// everything reads all keys and the clock of the node at one instant. So it never finds a plain key without its record,
// and a record and its plain key expire together, also if the answer comes late.
const everything = `local now = redis.call('TIME')
local all = {now[1] * 1000000 + now[2]}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key).ok, false
  if kind == 'string' then value = redis.call('GET', key) end
  if kind == 'zset' then value = redis.call('ZRANGEBYSCORE', key, 0, '+inf') end -- scores below 0 are claims of slots
  if kind == 'hash' then value = redis.call('HGETALL', key) end
  all[#all + 1] = {key, value}
end
return all`

// ends is the time for which a claim still counts after its expiry. Its plain key may expire in another millisecond.
const ends = 5_000 // in µs

// things returns the entries of a node, except those about the node itself.
func (a *arena) things(n *node) (list []thing) {
	all, _ := a.do(n.server, "EVAL", everything, 0).([]any)
	if len(all) == 0 {
		return nil // the node did not answer: do has logged why
	}
	now := all[0].(int64)
	for _, one := range all[1:] {
		pair := one.([]any)
		key := fmt.Sprint(pair[0])
		text, isText := pair[1].(string)
		several, isList := pair[1].([]any)
		switch kind := nodescript.KindOf(key); {
		case kind == nodescript.NodeKey:
		case kind == nodescript.QueueOfKey && isList:
			for _, w := range several {
				list = append(list, thing{aPlace, key, nodescript.OwnerOfMember(key, fmt.Sprint(w))})
			}
		case kind == nodescript.ReadersOfKey && isList:
			list = append(list, readers(key, several, now)...)
		case isText && text == nodescript.Marker: // it may outlive the readers, and keeps nobody out
		case kind == nodescript.RecordOfKey && isText:
			switch r, err := nodescript.ParseRecord(text); {
			case err != nil:
				list = append(list, thing{anOdd, key, text})
			case r.Token == 0 && r.Owner != "" && r.Expiry > now-ends:
				list = append(list, thing{aClaim, key, r.Owner})
			case r.Owner == "" || r.Expiry <= now-a.plan.Window.Microseconds()-ends:
			case r.Expiry <= now:
				// The lease ends by its stamp, and the plain key counts from the arrival of the stamp: at most W later.
				list = append(list, thing{anEnd, key, r.Owner})
			default:
				list = append(list, thing{aLease, key, r.Owner})
			}
		case isText:
			list = append(list, thing{aPlain, key, text})
		default:
			list = append(list, thing{anOdd, key, fmt.Sprint(pair[1])})
		}
	}
	return list
}

// readers returns the entries of readers that have not expired. fields are those of their hash.
func readers(key string, fields []any, now int64) (list []thing) {
	for i := 0; i+1 < len(fields); i += 2 {
		owner, text := fmt.Sprint(fields[i]), fmt.Sprint(fields[i+1])
		if !nodescript.IsReader(owner) {
			continue // the tokens of all readers
		}
		kind, expiry := aLease, int64(0)
		if len(text) == 32 {
			expiry, _ = strconv.ParseInt(text[16:], 10, 64)
		}
		switch claim := strings.HasPrefix(text, "0000000000000000"); {
		case len(text) != 32:
			kind = anOdd
		case claim && expiry > now-ends:
			kind = aClaim
		case claim || expiry <= now:
			continue
		}
		list = append(list, thing{kind, key, owner})
	}
	return list
}

// look searches the nodes for traces of clients that no longer want a lock: leases, plain keys, and places in queues.
type look struct {
	arena   *arena
	clients map[int]*process
	since   int64 // from this time on, or earlier, clients could reach every node
	ticket  int64 // the lowest ticket from after the faults; a place with a lower one may come from a node's old memory
	stalled time.Duration
	found   map[string]string // the traces, and when each was first found
}

// newLook begins a search when no fault separates clients from the nodes any more. The locks of killed clients end by
// themselves.
func (a *arena) newLook() *look {
	since := Monotonic()
	healed := time.Now().Add(time.Duration(a.healed - since)).Add(a.plan.Window)
	l := &look{arena: a, clients: map[int]*process{}, since: since, ticket: healed.UnixMicro(), found: map[string]string{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		l.clients[p.id] = p
	}
	return l
}

// late notes a delay that the machine caused for the harness. The machine may have delayed the clients too.
func (l *look) late(by time.Duration) {
	if by > 10*time.Millisecond {
		l.stalled += by
	}
}

// over reports whether no trace of a client may exist any more at an instant.
func (l *look) over(p *process, at int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.killed != 0:
		return at > p.killed+int64(l.arena.plan.quarantine())
	case p.role.Misfit != "":
		return true // a misfit ended before the faults did
	case p.idle == 0:
		return false
	}
	return at > max(p.idle, l.since)+int64(grace+l.stalled)
}

// stays reports whether a place may be in a queue although its client no longer wants the lock. There are two reasons.
// The place may have come back with the memory of a node. Or its client was killed, and the next hand-off skips the
// place. Such places stay until the queue ends.
func (l *look) stays(place thing) bool {
	ticket, ok := nodescript.Ticket(place.owner)
	p := l.clients[clientOf(place.owner)]
	return ok && (ticket < l.ticket || p != nil && p.killed != 0)
}

// all checks every node while lockers are open. A claim does not count: it lasts about a second and is no lease. A
// client that no longer wants the claim declines it, or lets it expire. The plain key of a claim, or of a lease that
// has just expired, does not count either.
func (l *look) all() {
	for i, n := range l.arena.nodes {
		at := Monotonic()
		things := l.arena.things(n)
		passing := map[string]bool{}
		for _, t := range things {
			passing[t.owner] = passing[t.owner] || t.kind == aClaim || t.kind == anEnd
		}
		for _, t := range things {
			switch {
			case t.kind == aClaim, t.kind == anEnd, t.kind == aPlain && passing[t.owner], t.kind == aPlace && l.stays(t):
				continue
			}
			p := l.clients[clientOf(t.owner)]
			if p != nil && !l.over(p, at) {
				continue
			}
			trace := fmt.Sprintf("%s, %s on node %d: %s", t.kind, t.key, i, t.owner)
			if _, known := l.found[trace]; !known {
				l.found[trace] = fmt.Sprintf("%s (%s)", trace, l.when(p, at))
			}
		}
	}
}

// when says how long before at a client ended. p is nil for an unknown client.
func (l *look) when(p *process, at int64) string {
	if p == nil {
		return "of no client of this run"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	after := func(from int64) time.Duration { return time.Duration(at - from).Round(time.Millisecond) }
	if p.killed != 0 {
		return fmt.Sprintf("%s after its client was killed", after(p.killed))
	}
	return fmt.Sprintf("%s after its client ended, %s after the faults, %s of delays", after(p.idle), after(l.since), l.stalled.Round(time.Millisecond))
}

// list returns the traces that were found.
func (l *look) list() []string { return slices.Sorted(maps.Values(l.found)) }

// ghosts returns the entries that are left on nodes when every lease and every client must have ended.
func (a *arena) ghosts() (list []string) {
	l := a.newLook()
	for i, n := range a.nodes {
		for _, t := range a.things(n) {
			if t.kind != anEnd && (t.kind != aPlace || !l.stays(t)) {
				list = append(list, fmt.Sprintf("%s, %s on node %d at the end: %s", t.kind, t.key, i, t.owner))
			}
		}
	}
	return list
}

// clientOf returns the number of an owner's client, which its label contains. It returns -1 if the label contains no
// number.
func clientOf(owner string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(nodescript.LabelOf(owner), "client-"))
	if err != nil {
		return -1
	}
	return n
}
