//go:build linux

package chaos

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// These promises apply to the time after the last fault. A name that a client wants is granted when two conditions
// hold. First, no dead client has a lock on it. This takes at most a TTL after the healing. Second, a majority of the
// nodes votes. A node that lost its memory votes a quarantine after a client found the loss. Clients ask once a second.
const (
	recoversIn = time.Second
	noticesIn  = time.Second
	// hurry is the working time of processes beside their waits. A dozen processes and the servers share the processors
	// with other tests under the race detector. A client takes about a dozen turns to meet a node again, to ask and to
	// get an answer. Each turn may have to wait for all other processes.
	hurry = 2 * time.Second
)

// bound returns the time within which each name must be granted after the faults.
func (r *Report) bound() time.Duration {
	d := r.Plan.TTL
	if r.Forgot {
		d = noticesIn + r.Plan.quarantine()
	}
	return d + recoversIn + hurry + r.Stalled
}

// forgetful reports whether the nodes that vote are no majority, because of lost memory.
func (a *arena) forgetful() bool {
	votes := 0
	for _, n := range a.nodes {
		guard, _ := n.server.Do("GET", nodescript.GuardKey)
		info, _ := n.server.Do("INFO", "server")
		_, rest, _ := strings.Cut(fmt.Sprint(info), "\nrun_id:")
		run, _, _ := strings.Cut(rest, "\r")
		if run != "" && strings.HasSuffix(fmt.Sprint(guard), " "+run) {
			votes++
		}
	}
	return votes <= len(a.nodes)/2
}

// recovered returns the longest time until a name was granted. The time counts from the latest of three events: the
// healing, the first wish, and a release by a live client. dead contains the clients that were killed.
func recovered(names []string, healed int64, all []belief, wishes []wish, dead map[int]bool) (longest time.Duration, which string) {
	for _, name := range names {
		// at is the time of the first grant after the healing.
		at := int64(-1)
		for _, w := range wishes {
			if w.name == name && w.got && w.to > healed && (at < 0 || w.to < at) {
				at = w.to
			}
		}
		if at < 0 {
			continue // another check reports this
		}
		from := at
		for _, w := range wishes {
			if w.name == name && w.to >= at && !dead[w.client] {
				from = min(from, w.from)
			}
		}
		from = max(from, healed)
		for _, b := range all {
			if askedFor(b.name) == name && b.from < at && !dead[b.client] {
				from = max(from, min(b.to, at))
			}
		}
		if d := time.Duration(at - from); d > longest {
			longest, which = d, name
		}
	}
	return longest, which
}

// recovers fills in the results of the time after the faults.
func (a *arena) recovers(r *Report, all []belief, wishes []wish) {
	dead := map[int]bool{}
	for _, p := range a.processes {
		dead[p.id] = p.killed != 0
	}
	r.Slowest, r.SlowestName = recovered(a.names(), r.healed, all, wishes, dead)
}
