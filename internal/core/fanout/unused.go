package fanout

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// unused collects the nodes that say that they are unused: they have granted nothing since their start, which was longer
// than a quarantine ago. If all nodes of the list were unused at one instant, no lock was alive then, and none of them
// needs a quarantine. See "A set that was never used" in docs/design/proofs.md.
type unused struct {
	mu      sync.Mutex
	nodes   []sighting
	agreed  []string      // the challenges that the nodes had at an instant at which all were unused; nil: there was none
	changed chan struct{} // closes when nodes changes
}

// sighting is what one node has last said.
type sighting struct {
	is        vacancy
	challenge string
	since     clock.Instant // the client had this challenge from then on
	asked     clock.Instant // the node was unused at this instant or later
}

// vacancy says whether a node is unused.
type vacancy uint8

const (
	unasked  vacancy = iota
	vacant           // it is unused
	serves           // it votes; another client may have found that all nodes are unused
	occupied         // it is not unused, or this is not known
)

// step is what a client does next with a node that is unused.
type step uint8

const (
	giveUp step = iota // the quarantine must pass
	await              // wait for the other nodes
	repeat             // ask this node again: another one answered with its challenge later
	claim              // all are unused: ask this node to vote
)

func newUnused(n int) *unused {
	return &unused{nodes: make([]sighting, n), changed: make(chan struct{})}
}

// note notes an answer of a node to a request that was sent at the instant sent. The node is on this machine if local
// is true. Otherwise its address may have led to another server a moment ago.
func (u *unused) note(i int, a nodescript.Answer, local bool, sent, received clock.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := &u.nodes[i]
	if (a.Verdict == nodescript.Challenged || a.Verdict == nodescript.Quarantined) && a.Names != s.challenge {
		s.challenge, s.since, s.asked = a.Names, received, 0
	}
	switch {
	case a.Verdict == nodescript.Challenged:
		return
	case a.Verdict == nodescript.Done:
		s.is = serves
	case a.NothingGranted() && local:
		s.is, s.asked = vacant, sent
	default:
		s.is = occupied
	}
	close(u.changed)
	u.changed = make(chan struct{})
}

// noteStanding notes that a client has asked a node, and has no answer about its memory.
func (u *unused) noteStanding(i int, a nodescript.Answer) {
	if a.Verdict != nodescript.Done && !a.NothingGranted() {
		u.note(i, nodescript.Answer{}, false, 0, 0)
	}
}

// next returns what to do with a node that is vacant. The channel closes when that may have changed.
func (u *unused) next(i int) (step, <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.agreed != nil && u.agreed[i] == u.nodes[i].challenge {
		return claim, u.changed
	}
	last, served := clock.Instant(0), false
	for _, s := range u.nodes {
		last, served = max(last, s.since), served || s.is == serves
	}
	all, early := true, false
	for _, s := range u.nodes {
		switch {
		case s.is == occupied:
			return giveUp, u.changed
		case s.is != vacant:
			all = false
		case s.asked <= last:
			early = true
		}
	}
	switch {
	case served: // another client is ahead
		return repeat, u.changed
	case !all:
		return await, u.changed
	case u.nodes[i].asked <= last:
		return repeat, u.changed
	case early:
		return await, u.changed
	}
	u.agreed = make([]string, len(u.nodes))
	for j, s := range u.nodes {
		u.agreed[j] = s.challenge
	}
	return claim, u.changed
}

// local reports whether the server of an incarnation runs on this machine, and nothing forwards its connections. It is
// false if other clients of the set may have other addresses: an address of theirs may have moved. The caller holds
// v.greeting.
func (v *voter) local(run string) bool {
	n, ok := v.node.(node.Local)
	if !ok || !v.fan.config.OneList || run == v.elsewhere {
		return false
	}
	ctx, cancel := context.WithTimeout(v.fan.hear, v.fan.patience())
	defer cancel()
	if n.Local(ctx) == run {
		return true
	}
	v.elsewhere = run // a server that refuses the question notes each one
	return false
}

const (
	// repeats is the number of questions while another client is ahead, and repeatAfter the pause before the first. Each
	// further pause is twice as long.
	repeats     = 6
	repeatAfter = 2 * time.Millisecond
	// othersWithin is how long an unused node waits for the answers of the others, which are on the same machine. A node
	// that hangs delays a refusal by so much.
	othersWithin = 200 * time.Millisecond
)

// settleUnused asks a node to vote if all nodes are unused. The node has answered that it is. a, sent and received
// belong to its answer to ask.
func (v *voter) settleUnused(run string, a nodescript.Answer, sent, received clock.Instant, ask func(unused bool) (nodescript.Answer, clock.Instant, clock.Instant)) (nodescript.Answer, clock.Instant) {
	u := v.fan.unused
	local := v.local(run)
	u.note(v.index, a, local, sent, received)
	timeout := time.NewTimer(othersWithin + v.fan.Delay())
	defer timeout.Stop()
	for tries, pause := 0, repeatAfter; local && a.NothingGranted(); {
		do, changed := u.next(v.index)
		switch {
		case do == giveUp || tries > repeats:
			return a, received
		case do == await:
			select {
			case <-changed:
				continue
			case <-timeout.C:
			case <-v.fan.ctx.Done():
			}
			return a, received
		case do == repeat && tries > 0:
			t := time.NewTimer(pause)
			select {
			case <-t.C:
			case <-v.fan.ctx.Done():
			}
			t.Stop()
			pause *= 2
		}
		tries++
		a, sent, received = ask(do == claim)
		if u.note(v.index, a, true, sent, received); do == claim {
			break
		}
	}
	return a, received
}
