package doctor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/admin"
)

// set examines the node set as a whole.
func (e *exam) set(ctx context.Context, all []*patient) {
	var alive []*patient
	for _, p := range all {
		if p.info != nil {
			alive = append(alive, p)
		}
	}
	e.roles(alive)
	e.clocks(alive)
	e.cluster(alive)
	if e.Cluster == nil {
		e.hosts()
		e.votes(admin.Nodes(ctx, e.Client))
		return
	}
	e.shardHosts()
	e.shardVotes(admin.Nodes(ctx, e.Client))
}

// mostDrift is the largest difference between the speeds of two right clocks. The margin of a lease covers a
// hundredth.
const mostDrift = 0.005

// clocks compares each clock with the middle one, and examines the round trips.
func (e *exam) clocks(alive []*patient) {
	if len(alive) == 0 {
		return
	}
	var offsets []time.Duration
	for _, p := range alive {
		offsets = append(offsets, p.readings[0].clock.Sub(p.readings[0].at))
	}
	slices.Sort(offsets)
	middle := offsets[len(offsets)/2]
	e.ahead = middle
	for _, p := range alive {
		took := p.readings[0].took
		switch state := fmt.Sprintf("%.1f ms", ms(took)); {
		case took > 2*e.Window:
			p.find("round-trip", Bad, state+": calls come later than a window, so the node cannot vote", "move the node or the client nearer, or give all clients a larger --window")
		case took > e.Window:
			p.find("round-trip", Warn, state+": longer than a window, so a busy client or a waiter may be too late", "give all clients a --window of a round trip or more, and a --node-timeout of three")
		case took > e.Window/4:
			p.find("round-trip", Warn, state+": more than a quarter of a window", "move the node or the client nearer, or give all clients a larger --window")
		default:
			p.find("round-trip", OK, state, "")
		}
		off := p.readings[0].clock.Sub(p.readings[0].at) - middle
		sync := "on the machine of this node: let chrony or ntpd set the clock, and look: chronyc tracking"
		switch state := fmt.Sprintf("%+.1f ms from the middle node", ms(off.Round(100*time.Microsecond))); {
		case off.Abs() > e.Window && e.Cluster != nil:
			p.find("clock", Bad, state+": more than a window, so a lease whose hash slot moves from or to this server may end too early or too late", sync)
		case off.Abs() > e.Window:
			p.find("clock", Bad, state+": more than a window, so the node has no vote", sync)
		case off.Abs() > e.Window/2:
			p.find("clock", Warn, state+": more than half a window", sync)
		default:
			p.find("clock", OK, state, "")
		}
		e.drift(p)
	}
}

func (e *exam) drift(p *patient) {
	a, b := p.readings[0], p.readings[1]
	if b.at.IsZero() {
		return
	}
	passed := b.at.Sub(a.at)
	gained := b.clock.Sub(a.clock) - passed
	noise := (a.took + b.took) / 2 // each reading may be wrong by half of its round trip
	rate := float64(gained) / float64(passed)
	percent := math.Round(1e4*rate)/100 + 0 // the 0 turns -0 into +0
	state := fmt.Sprintf("%+.2f %% in %.1f s", percent, passed.Seconds())
	if gained.Abs() > noise && (rate > mostDrift || rate < -mostDrift) {
		p.find("drift", Warn, state+": its clock runs at another speed than this machine's, or was set meanwhile",
			"if nobody set a clock meanwhile, compare the clocks of both machines with their time servers: chronyc tracking")
		return
	}
	p.find("drift", OK, state, "")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// hosts finds nodes that run on the same machine, by their addresses.
func (e *exam) hosts() {
	on, order := map[string][]string{}, []string(nil)
	known := true
	for i, address := range e.URLs {
		host := "this machine"
		u, err := parseURL(address)
		if err == nil && behindSentinel(u.Scheme) {
			known = false // the URL names Sentinels and not the machine of the server
			continue
		}
		if err == nil && !near(address) {
			host = u.Hostname()
		}
		if on[host] == nil {
			order = append(order, host)
		}
		on[host] = append(on[host], e.Nodes[i].Addr())
	}
	shared := false
	for _, host := range order {
		if len(on[host]) < 2 {
			continue
		}
		shared = true
		severity := Warn
		if host == "this machine" {
			severity = Note
		}
		e.find("hosts", "", severity, fmt.Sprintf("%d nodes are on %s, and fail together", len(on[host]), host), "move them to machines that fail independently: "+strings.Join(on[host], ", "))
	}
	switch {
	case shared:
	case known:
		e.find("hosts", "", OK, "each node has an address of its own", "")
	default:
		e.find("hosts", "", Note, "not known for nodes that Sentinels name", "check that the nodes and their replicas run on machines that fail independently")
	}
}

// judged adds a finding with one of two texts: good if s is OK, otherwise bad.
func (e *exam) judged(check, node string, s Severity, bad, good, fix string) {
	if s == OK {
		bad = good
	}
	e.find(check, node, s, bad, fix)
}
