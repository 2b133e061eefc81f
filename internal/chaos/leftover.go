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

// look looks for what clients left on the nodes that want nothing any more: leases, and places in queues.
type look struct {
	arena   *arena
	since   int64 // when every node could be reached, or later
	ticket  int64 // of places that were taken after the faults: an earlier one may have come back with a node's memory
	stalled time.Duration
	found   map[string]bool
}

// newLook is for when nothing keeps clients from the nodes any more. What killed clients had is over by itself.
func (a *arena) newLook() *look {
	since := Monotonic()
	healed := time.Now().Add(time.Duration(a.healed - since)).Add(a.plan.Window)
	return &look{arena: a, since: since, ticket: healed.UnixMicro(), found: map[string]bool{}}
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

// all looks at every node.
func (l *look) all() {
	l.arena.mu.Lock()
	clients := map[int]*process{}
	for _, p := range l.arena.processes {
		clients[p.id] = p
	}
	l.arena.mu.Unlock()
	for i, n := range l.arena.nodes {
		keys, _ := l.arena.do(n.server, "KEYS", "*:holdfast*").([]any)
		for _, k := range keys {
			key := fmt.Sprint(k)
			at := Monotonic()
			find := func(owner, what string) {
				if p := clients[clientOf(owner)]; p == nil || l.over(p, at) {
					l.found[fmt.Sprintf("%s of %s on node %d: %s", what, key, i, owner)] = true
				}
			}
			if strings.HasSuffix(key, ":queue") {
				waiting, _ := l.arena.do(n.server, "ZRANGE", key, 0, -1).([]any)
				for _, w := range waiting {
					owner := fmt.Sprint(w)
					ticket, ok := nodescript.Ticket(owner)
					p := clients[clientOf(owner)]
					// Who was killed is skipped at once by whoever hands the name over.
					if !ok || ticket >= l.ticket && (p == nil || p.killed == 0) {
						find(owner, "a place")
					}
				}
				continue
			}
			text, _ := l.arena.do(n.server, "GET", key).(string)
			r, err := nodescript.ParseRecord(text)
			if now := time.Now().Add(n.skew).UnixMicro(); err == nil && r.Owner != "" && r.Token != 0 && r.Expiry > now {
				find(r.Owner, "a lease")
			}
		}
	}
}

// list is what was found.
func (l *look) list() []string { return slices.Sorted(maps.Keys(l.found)) }

// clientOf is the number of the client whose an owner is, by its label; -1 for one that has none.
func clientOf(owner string) int {
	label, _, _ := strings.Cut(owner, "~")
	n, err := strconv.Atoi(strings.TrimPrefix(label, "client-"))
	if err != nil {
		return -1
	}
	return n
}
