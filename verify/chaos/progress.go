//go:build linux

package chaos

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/quantile"
)

// settling is the time for which the consequences of a fault last after the fault. It covers the quarantine of a node
// that forgot, the claim of a paused waiter, and the time until clients notice the end of the fault.
func (p Plan) settling() time.Duration { return p.quarantine() + 2*time.Second }

// sick returns the times in which no majority of the nodes was well.
func (a *arena) sick() (list []span) {
	type turn struct {
		at   int64
		node int
		by   int
	}
	var turns []turn
	for _, in := range a.injuries {
		to := in.To
		if to == 0 {
			to = Monotonic()
		}
		for _, n := range in.Nodes {
			turns = append(turns, turn{in.From, n, 1}, turn{to + int64(a.plan.settling()), n, -1})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	hurt := make([]int, len(a.nodes))
	var since int64
	for _, t := range turns {
		hurt[t.node] += t.by
		well := 0
		for _, h := range hurt {
			if h == 0 {
				well++
			}
		}
		switch bad := well <= len(a.nodes)/2; {
		case bad && since == 0:
			since = t.at
		case !bad && since != 0:
			list = append(list, span{since, t.at})
			since = 0
		}
	}
	return list
}

// outside returns the part of a time that lies in none of the sorted spans.
func outside(from, to int64, spans []span) time.Duration {
	left := to - from
	for _, s := range spans {
		if shared := min(to, s.to) - max(from, s.from); shared > 0 {
			left -= shared
		}
	}
	return time.Duration(left)
}

// starvation returns the longest time of a wish while a majority was well and the client's own process ran. A pause
// during sickness is subtracted twice. So the result may be too short, but it is never too long.
func (a *arena) starvation(wishes []wish, frozen map[int][]span) (longest time.Duration, hungriest wish, median time.Duration) {
	sick := a.sick()
	var waits []time.Duration
	for _, w := range wishes {
		d := time.Duration(w.to - w.from)
		if w.got {
			waits = append(waits, d)
		}
		if d > longest {
			well := outside(w.from, w.to, sick)
			well -= d - outside(w.from, w.to, frozen[w.client])
			if well > longest {
				longest, hungriest = well, w
			}
		}
	}
	return longest, hungriest, quantile.Of(waits).Median()
}
