//go:build linux

package chaos

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// What is promised for the time after the last fault: a name that somebody wants is granted as soon as what the
// dead may have left on it is over, a TTL after the healing at the latest, and a majority of the nodes votes. A
// node that lost its memory does so a quarantine after somebody found out, who asks once a second.
const (
	recoversIn = time.Second
	noticesIn  = time.Second
	// hurry is for what processes take beside that in which they only wait. A dozen of them and the servers share
	// the processors with other tests under the race detector; to meet a node anew, to ask and to be answered
	// is a dozen turns of one or the other, each of which may have to wait for all the rest.
	hurry = 2 * time.Second
)

// bound is how soon each name must be granted after the faults.
func (r *Report) bound() time.Duration {
	d := r.Plan.TTL
	if r.Forgot {
		d = noticesIn + r.Plan.quarantine()
	}
	return d + recoversIn + hurry + r.Stalled
}

// forgetful reports whether no majority of the nodes votes, because they lost their memory.
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

// recovered is how long the name took that took longest: from the healing, or since somebody wanted it, or since
// somebody who is alive gave it back, if that was later. dead are clients that were killed.
func recovered(names []string, healed int64, all []belief, wishes []wish, dead map[int]bool) (longest time.Duration, which string) {
	for _, name := range names {
		// The first grant after the healing.
		at := int64(-1)
		for _, w := range wishes {
			if w.name == name && w.got && w.to > healed && (at < 0 || w.to < at) {
				at = w.to
			}
		}
		if at < 0 {
			continue // said elsewhere
		}
		from := at
		for _, w := range wishes {
			if w.name == name && w.to >= at && !dead[w.client] {
				from = min(from, w.from)
			}
		}
		from = max(from, healed)
		for _, b := range all {
			if b.name == name && b.from < at && !dead[b.client] {
				from = max(from, min(b.to, at))
			}
		}
		if d := time.Duration(at - from); d > longest {
			longest, which = d, name
		}
	}
	return longest, which
}

// recovers fills in what came of the time after the faults.
func (a *arena) recovers(r *Report, all []belief, wishes []wish) {
	dead := map[int]bool{}
	for _, p := range a.processes {
		dead[p.id] = p.killed != 0
	}
	r.Slowest, r.SlowestName = recovered(a.names(), r.healed, all, wishes, dead)
}
