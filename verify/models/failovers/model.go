// Package failovers models one endpoint behind Sentinels: which clients rely on a lock while the master changes, also
// back to a former master that never was a replica. It checks that no two clients rely on the lock at the same time.
// See docs/design/proofs.md, Sentinel.
//
// It has three Sentinels, two servers, two clients, and time in whole units. The server of an epoch is the epoch modulo
// 2. The adversary may make a failover at any time, at any Sentinel, while both servers live. A Sentinel hears of a
// failover at any later time, or never. A client asks at any time, and may be cut off from any Sentinel. Left out are
// clocks (the package clock has them), delays of messages, and Sentinels that lose their state.
package failovers

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

const (
	epochs    = 3 // the failovers 1 and 2; 0 is the beginning
	sentinels = 3
	servers   = 2
	clients   = 2

	ttl    = 4
	margin = 2 // a client relies on a lease for ttl - margin
	good   = 2 // an answer of the Sentinels is good for this time: at most margin, see docs/design/proofs.md
)

// Rule is a rule that a model can leave out.
type Rule uint8

// These are the rules.
const (
	None       Rule = iota
	Epoch           // quarantine.lua: a later epoch than the noted one is a loss of memory
	Majority        // sentinels.go: an answer counts only if a majority agrees
	Good            // masters.go, Stands: an answer is good for a limited time only
	Reign           // masters.go, At: a later epoch begins another reign, so the client asks for admission again
	Quarantine      // config.go: the quarantine is as long as a lease of the former master may last
)

// Model leaves out one rule.
type Model struct{ Without Rule }

// State is a state. All times are the times that are left.
type State struct {
	Named  [sentinels]int8 // the epoch that each Sentinel knows
	Noted  [servers]int8   // the epoch that each server has noted; -1: none
	Quiet  [servers]int8   // the rest of its quarantine
	Holder [servers]int8   // the client with a lease on it; -1: none
	Lease  [servers]int8   // the rest of that lease
	Client [clients]Client
}

// Client is a client.
type Client struct {
	Epoch  int8 // of the last answer of the Sentinels; -1: none
	Good   int8 // the rest of the time for which it is good; -1: it is over
	Met    bool // the server has admitted the client in this reign
	Relies int8 // the rest of the time for which it relies on a lease
}

// These are the steps.
const (
	tick explore.Rule = iota
	failover
	hear
	ask
	admit
	grant
)

// Initial returns the first state: the first server votes.
func (Model) Initial() State {
	s := State{Noted: [servers]int8{0, -1}, Holder: [servers]int8{-1, -1}}
	for c := range s.Client {
		s.Client[c] = Client{Epoch: -1, Good: -1}
	}
	return s
}

// Canonical returns s: it is small enough.
func (Model) Canonical(s State) State { return s }

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	visit(explore.Step{Rule: tick}, later(s))
	last := max(s.Named[0], s.Named[1], s.Named[2])
	for i := range s.Named {
		next := s
		if last+1 < epochs {
			next.Named[i] = last + 1
			visit(explore.Step{Rule: failover, Node: int8(i)}, next)
		}
		for e := s.Named[i] + 1; e <= last; e++ {
			next.Named[i] = e
			visit(explore.Step{Rule: hear, Node: int8(i), X: e}, next)
		}
	}
	for c := range s.Client {
		for i, e := range s.Named {
			if agreed := s.Named[(i+1)%sentinels] == e; e >= s.Client[c].Epoch && (agreed || m.Without == Majority) {
				visit(explore.Step{Rule: ask, Who: int8(c), X: e}, m.asked(s, c, e))
			}
		}
		if s.Client[c].Epoch >= 0 {
			visit(explore.Step{Rule: admit, Who: int8(c)}, m.admitted(s, c))
			if next, ok := m.granted(s, c); ok {
				visit(explore.Step{Rule: grant, Who: int8(c)}, next)
			}
		}
	}
}

func later(s State) State {
	down := func(n *int8, end int8) { *n = max(*n-1, end) }
	for i := range s.Quiet {
		down(&s.Quiet[i], 0)
		if down(&s.Lease[i], 0); s.Lease[i] == 0 {
			s.Holder[i] = -1
		}
	}
	for c := range s.Client {
		down(&s.Client[c].Good, -1)
		down(&s.Client[c].Relies, 0)
	}
	return s
}

func (m Model) asked(s State, c int, e int8) State {
	a := &s.Client[c]
	if e%servers != a.Epoch%servers || e != a.Epoch && m.Without != Reign {
		a.Met = false
	}
	a.Epoch, a.Good = e, good
	return s
}

func (m Model) admitted(s State, c int) State {
	a := &s.Client[c]
	at := a.Epoch % servers
	switch {
	case s.Noted[at] < 0, s.Noted[at] < a.Epoch && m.Without != Epoch:
		s.Noted[at], s.Quiet[at] = a.Epoch, ttl
		if m.Without == Quarantine {
			s.Quiet[at]--
		}
	case a.Epoch < s.Noted[at], s.Quiet[at] > 0:
	default:
		a.Met = true
	}
	return s
}

// granted is a grant, or a renewal.
func (m Model) granted(s State, c int) (State, bool) {
	a := &s.Client[c]
	at := a.Epoch % servers
	if !a.Met || s.Quiet[at] > 0 || a.Good < 0 && m.Without != Good || s.Holder[at] >= 0 && s.Holder[at] != int8(c) {
		return s, false
	}
	s.Holder[at], s.Lease[at], a.Relies = int8(c), ttl, ttl-margin
	return s, true
}

// Broken implements [explore.Model].
func (Model) Broken(_ State, _ explore.Step, after State) string {
	if after.Client[0].Relies > 0 && after.Client[1].Relies > 0 {
		return "two holders"
	}
	return ""
}

// Say implements [explore.Model].
func (Model) Say(_ State, step explore.Step, after State) string {
	who := string(rune('A' + step.Who))
	a := after.Client[step.Who]
	switch step.Rule {
	case failover:
		return fmt.Sprintf("Sentinel %d makes a failover: epoch %d, server %d", step.Node, after.Named[step.Node], after.Named[step.Node]%servers)
	case hear:
		return fmt.Sprintf("Sentinel %d hears of epoch %d", step.Node, step.X)
	case ask:
		return fmt.Sprintf("%s asks the Sentinels: epoch %d, server %d", who, step.X, step.X%servers)
	case admit:
		return fmt.Sprintf("%s asks server %d for admission: votes %t, quarantined for %d", who, a.Epoch%servers, a.Met, after.Quiet[a.Epoch%servers])
	case grant:
		return fmt.Sprintf("server %d grants or renews the lock of %s", a.Epoch%servers, who)
	}
	return "time passes"
}
