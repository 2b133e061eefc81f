//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// thing is what a node keeps for somebody.
type thing struct {
	kind, key string
	owner     string
}

// Kinds of things. Tombstones are none: they are for nobody, and are there to stay.
const (
	aLease = "a lease"
	aClaim = "a claim"
	aPlace = "a place"
	aPlain = "a plain key"
	anOdd  = "what nobody should have left"
)

// everything reads all keys at one instant, so that a plain key is not seen without the record it belongs to.
const everything = `local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', key).ok, false
  if kind == 'string' then value = redis.call('GET', key) end
  if kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1) end
  all[#all + 1] = {key, value}
end
return all`

// ends is for how long a claim counts when it is over: its plain key may end in another millisecond,
// and the clock is read after the node.
const ends = 100_000 // µs

// things are what a node keeps, but for what is about the node itself.
func (a *arena) things(n *node) (list []thing) {
	all, _ := a.do(n.server, "EVAL", everything, 0).([]any)
	now := time.Now().Add(n.skew).UnixMicro()
	for _, one := range all {
		pair := one.([]any)
		key := fmt.Sprint(pair[0])
		text, isText := pair[1].(string)
		waiting, isQueue := pair[1].([]any)
		switch {
		case strings.HasPrefix(key, nodescript.GuardKey):
		case strings.HasSuffix(key, ":holdfast:queue") && isQueue:
			for _, w := range waiting {
				list = append(list, thing{aPlace, key, fmt.Sprint(w)})
			}
		case strings.HasSuffix(key, ":holdfast") && isText:
			switch r, err := nodescript.ParseRecord(text); {
			case err != nil:
				list = append(list, thing{anOdd, key, text})
			case r.Token == 0 && r.Owner != "" && r.Expiry > now-ends:
				list = append(list, thing{aClaim, key, r.Owner})
			case r.Owner == "" || r.Expiry <= now:
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

// look looks for what clients left on the nodes that want nothing any more: leases, plain keys, and places in queues.
type look struct {
	arena   *arena
	clients map[int]*process
	since   int64 // when every node could be reached, or later
	ticket  int64 // of places that were taken after the faults: an earlier one may have come back with a node's memory
	stalled time.Duration
	found   map[string]bool
}

// newLook is for when nothing keeps clients from the nodes any more. What killed clients had is over by itself.
func (a *arena) newLook() *look {
	since := Monotonic()
	healed := time.Now().Add(time.Duration(a.healed - since)).Add(a.plan.Window)
	l := &look{arena: a, clients: map[int]*process{}, since: since, ticket: healed.UnixMicro(), found: map[string]bool{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.processes {
		l.clients[p.id] = p
	}
	return l
}

// late notes that the machine kept the harness waiting: it may have kept the clients, too.
func (l *look) late(by time.Duration) {
	if by > 10*time.Millisecond {
		l.stalled += by
	}
}

// over reports whether nothing of a client may be there at an instant.
func (l *look) over(p *process, at int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.killed != 0:
		return at > p.killed+int64(l.arena.plan.quarantine())
	case p.role.Misfit != "":
		return true // gone before the faults were over
	case p.idle == 0:
		return false
	}
	return at > max(p.idle, l.since)+int64(grace+l.stalled)
}

// stays reports whether a place may be in a queue although its client wants nothing any more: it came back with the
// memory of a node, or its client was killed and is skipped at once by whoever hands the name over. Either is there
// until the queue is.
func (l *look) stays(place thing) bool {
	ticket, ok := nodescript.Ticket(place.owner)
	p := l.clients[clientOf(place.owner)]
	return ok && (ticket < l.ticket || p != nil && p.killed != 0)
}

// all looks at every node while lockers are open. A claim is a matter of a second and no lease: whoever does
// not want it any more declines it, or lets it pass; and so is the plain key that comes with it.
func (l *look) all() {
	for i, n := range l.arena.nodes {
		at := Monotonic()
		things := l.arena.things(n)
		claimed := map[string]bool{}
		for _, t := range things {
			claimed[t.owner] = claimed[t.owner] || t.kind == aClaim
		}
		for _, t := range things {
			switch {
			case t.kind == aClaim, t.kind == aPlain && claimed[t.owner], t.kind == aPlace && l.stays(t):
				continue
			}
			if p := l.clients[clientOf(t.owner)]; p == nil || l.over(p, at) {
				l.found[fmt.Sprintf("%s, %s on node %d: %s", t.kind, t.key, i, t.owner)] = true
			}
		}
	}
}

// list is what was found.
func (l *look) list() []string { return slices.Sorted(maps.Keys(l.found)) }

// ghosts are what nodes still keep although every lease, and every client, must be over.
func (a *arena) ghosts() (list []string) {
	l := a.newLook()
	for i, n := range a.nodes {
		for _, t := range a.things(n) {
			if t.kind != aPlace || !l.stays(t) {
				list = append(list, fmt.Sprintf("%s, %s on node %d at the end: %s", t.kind, t.key, i, t.owner))
			}
		}
	}
	return list
}

// clientOf is the number of the client whose an owner is, by its label; -1 for one that has none.
func clientOf(owner string) int {
	label, _, _ := strings.Cut(owner, "~")
	n, err := strconv.Atoi(strings.TrimPrefix(label, "client-"))
	if err != nil {
		return -1
	}
	return n
}
