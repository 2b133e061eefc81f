// Package unused models a node set on which a client looks for a quarantine that is not needed: which clients rely on a
// lock while servers restart and are flushed, and one of them has a wrong clock. It checks that no two clients rely on
// the lock at the same time. See docs/design/proofs.md, A set that was never used.
//
// It has three nodes, a client A that only locks, a client B that may also skip quarantines, and time in whole units. The
// adversary may restart or flush any node, and may make the clock of the first node leap. An answer may come at any
// later time, and so may B's request to vote at once. Left out are the clocks of the other nodes and stamps (the package
// clock has them), and usual admissions, which a node does by itself when its quarantine ends.
package unused

import (
	"fmt"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

const (
	nodes      = 3
	losses     = 4 // how often nodes lose their memory, at most
	ttl        = 2
	quarantine = ttl
)

// Rule is a rule that a model can leave out.
type Rule uint8

// These are the rules.
const (
	None      Rule = iota
	EveryNode      // unused.go: every node of the list must be unused, and not only a majority
	AfterAll       // unused.go: a node must be unused after B had the challenges of all nodes
	Uptime         // quarantine.lua: the server must have been running for longer than a quarantine
	Counts         // quarantine.lua: the server must have counted no EVALSHA
	Names          // quarantine.lua: the request names the challenge
	Local          // local.go: no other server can be behind an address of this machine
)

// Model leaves out one rule.
type Model struct{ Without Rule }

// Node is a node. Its times are the times that are left.
type Node struct {
	Age    int8 // the uptime that it tells, at most quarantine
	Used   bool // it has counted an EVALSHA
	Votes  bool
	Quiet  int8 // the rest of its quarantine; -1: it has not begun
	Losses int8 // how often it lost its memory. Each loss has its own challenge.
	Asked  bool // it has written its challenge
	Vacant bool // it was unused when it wrote its challenge
	Holder int8 // the client with a lease on it; -1: none
	Lease  int8 // the rest of that lease
}

// State is a state.
type State struct {
	Nodes  [nodes]Node
	Relies [2]int8     // the rest of the time for which A and B rely on a lease
	Has    [nodes]int8 // the challenges that B has; 0: none
	Found  [nodes]bool // the nodes that B found unused, after it had all challenges
	Agreed [nodes]int8 // the challenges with which B may ask nodes to vote at once; 0: none
}

// These are the steps.
const (
	tick explore.Rule = iota
	restart
	flush
	move
	leap
	write
	vote
	ask
	claim
	grant
)

// Initial returns the first state: all nodes vote, and nobody has a lock.
func (Model) Initial() (s State) {
	for i := range s.Nodes {
		s.Nodes[i] = Node{Age: quarantine, Votes: true, Holder: -1}
	}
	return s
}

// Canonical returns s.
func (Model) Canonical(s State) State { return s }

// unused does the same as the function in quarantine.lua.
func (m Model) unused(n Node) bool {
	return (n.Age >= quarantine || m.Without == Uptime) && (!n.Used || m.Without == Counts)
}

// Steps implements [explore.Model].
func (m Model) Steps(s State, visit func(explore.Step, State)) {
	visit(explore.Step{Rule: tick}, later(s))
	lost := int8(0)
	for _, n := range s.Nodes {
		lost += n.Losses
	}
	for i := range s.Nodes {
		at, n := explore.Step{Node: int8(i)}, s.Nodes[i]
		do := func(rule explore.Rule, next State) { at.Rule = rule; visit(at, next) }
		if lost < losses {
			forgot := Node{Age: n.Age, Used: n.Used, Quiet: -1, Losses: n.Losses + 1, Holder: -1}
			do(flush, s.with(i, forgot))
			forgot.Used, forgot.Age = false, 0
			do(restart, s.with(i, forgot))
			if forgot.Age = quarantine; m.Without == Local {
				do(move, s.with(i, forgot))
			}
		}
		if leapt := n; i == 0 && n.Age < quarantine {
			leapt.Age = quarantine
			do(leap, s.with(i, leapt))
		}
		switch {
		case n.Votes:
		case !n.Asked:
			n.Asked, n.Vacant, n.Quiet = true, m.unused(n), quarantine
			do(write, s.with(i, n))
		default:
			do(ask, m.asked(s, i))
			if n.Quiet == 0 {
				votes := n
				votes.Votes = true
				do(vote, s.with(i, votes))
			}
			if s.Agreed[i] != 0 && (s.Agreed[i] == n.Losses || m.Without == Names) && n.Vacant && m.unused(n) {
				n.Votes = true
				do(claim, s.with(i, n))
			}
		}
	}
	for c := range int8(2) {
		for without := range int8(nodes + 1) { // nodes: all of them
			if next, ok := s.granted(c, without); ok {
				visit(explore.Step{Rule: grant, Who: c, X: without}, next)
			}
		}
	}
}

func (s State) with(i int, n Node) State {
	s.Nodes[i] = n
	return s
}

func later(s State) State {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Age = min(n.Age+1, quarantine)
		if n.Quiet > 0 {
			n.Quiet--
		}
		if n.Lease = max(n.Lease-1, 0); n.Lease == 0 {
			n.Holder = -1
		}
	}
	for c := range s.Relies {
		s.Relies[c] = max(s.Relies[c]-1, 0)
	}
	return s
}

// asked is a question of B to a node in its quarantine, and the answer.
func (m Model) asked(s State, i int) State {
	n := s.Nodes[i]
	if s.Has[i] != n.Losses {
		s.Has[i] = n.Losses
		if m.Without != AfterAll {
			s.Found = [nodes]bool{}
		}
	}
	all, found := true, 0
	for _, has := range s.Has {
		all = all && has != 0
	}
	s.Found[i] = n.Vacant && m.unused(n) && (all || m.Without == AfterAll || m.Without == EveryNode)
	for _, is := range s.Found {
		if is {
			found++
		}
	}
	if found == nodes || m.Without == EveryNode && found > nodes/2 {
		s.Agreed = s.Has
	}
	return s
}

// granted is a grant or a renewal by all nodes, or by all but one.
func (s State) granted(c, without int8) (State, bool) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case int8(i) == without:
		case !n.Votes || n.Holder >= 0 && n.Holder != c:
			return s, false
		default:
			n.Used, n.Holder, n.Lease = true, c, ttl
		}
	}
	s.Relies[c] = ttl
	return s, true
}

// Broken implements [explore.Model].
func (Model) Broken(_ State, _ explore.Step, after State) string {
	if after.Relies[0] > 0 && after.Relies[1] > 0 {
		return "two holders"
	}
	return ""
}

// Say implements [explore.Model].
func (Model) Say(_ State, step explore.Step, after State) string {
	node := step.Node + 1
	switch step.Rule {
	case restart:
		return fmt.Sprintf("node %d restarts without its memory", node)
	case flush:
		return fmt.Sprintf("somebody flushes node %d", node)
	case move:
		return fmt.Sprintf("the address of node %d moves to a server that was never used", node)
	case leap:
		return fmt.Sprintf("the clock of node %d leaps: it seems to run for long", node)
	case write:
		return fmt.Sprintf("node %d writes a challenge: unused %t", node, after.Nodes[step.Node].Vacant)
	case vote:
		return fmt.Sprintf("the quarantine of node %d ends", node)
	case ask:
		return fmt.Sprintf("B asks node %d: found unused %v, agreed %v", node, after.Found, after.Agreed)
	case claim:
		return fmt.Sprintf("node %d votes, because B found all nodes unused", node)
	case grant:
		return fmt.Sprintf("the nodes, without number %d, grant or renew the lock of %c", step.X+1, 'A'+step.Who)
	}
	return "time passes"
}
