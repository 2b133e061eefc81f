package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/node"
)

// The hint to vouch for nodes in quarantine may lead to two holders if a lock is alive. So a wait that met a holder
// does not show the hint.
func TestAWaitThatMetAHolderDoesNotHintToVouch(t *testing.T) {
	quarantined := &holdfast.UnavailableError{Name: "x", Nodes: []holdfast.NodeAnswer{
		{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: 9 * time.Second},
	}}
	for met, held := range map[string]error{"nobody": nil, "a holder": &holdfast.HeldError{Name: "x", Holders: []holdfast.Holder{{Owner: "web-3~1~2~3"}}, ExpiresIn: 9 * time.Second}} {
		var out bytes.Buffer
		w := &waiter{talker: newTalker(&out), give: func(error) {}}
		if held != nil {
			w.refused(held)
		}
		w.refused(context.DeadlineExceeded)
		w.refused(quarantined)
		w.lines.Wait(async.Forever)
		if hinted := strings.Contains(out.String(), "nodes trust"); hinted != (held == nil) {
			t.Errorf("met %s: it said %q", met, out.String())
		}
	}
}

// If a node answers after the hint, with a longer quarantine, the hint comes again and names it.
func TestTheHintToWaitNamesTheLongestQuarantine(t *testing.T) {
	quarantined := func(in time.Duration) holdfast.NodeAnswer {
		return holdfast.NodeAnswer{Node: in.String(), Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: in}
	}
	var out bytes.Buffer
	w := &waiter{talker: newTalker(&out), give: func(error) {}}
	a, b, silent := quarantined(7*time.Second), quarantined(10100*time.Millisecond), holdfast.NodeAnswer{Node: "silent"}
	for _, nodes := range [][]holdfast.NodeAnswer{{a, silent, silent}, {a, silent, silent}, {a, b, silent}, {a, b, silent}} {
		w.refused(&holdfast.UnavailableError{Name: "x", Nodes: nodes})
	}
	w.lines.Wait(async.Forever)
	if said := out.String(); strings.Count(said, "hint: wait 7s") != 1 || strings.Count(said, "hint: wait 11s") != 1 {
		t.Errorf("it said %q", said)
	}
}

// A voucher does not shorten the quarantine of a node that waits for its place among the members. So there is no hint.
func TestNoHintToVouchForANodeThatWaitsForItsPlace(t *testing.T) {
	place := holdfast.NodeAnswer{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CausePlace, VotesIn: 6700 * time.Millisecond}
	unused := holdfast.NodeAnswer{Node: "b", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: 9 * time.Second}
	var s settings
	if got := s.nodesHint([]holdfast.NodeAnswer{place, place}); got != "wait 6.7s; nothing shortens this" {
		t.Errorf("the hint is %q", got)
	}
	if got := s.nodesHint([]holdfast.NodeAnswer{place, unused}); strings.Contains(got, "nodes trust") || !strings.HasPrefix(got, "wait 9s") {
		t.Errorf("for a node that was never used, too, the hint is %q", got)
	}
	for _, n := range []holdfast.NodeAnswer{place, unused} {
		un := &holdfast.UnavailableError{Nodes: []holdfast.NodeAnswer{n}}
		if vouch := strings.Contains(un.Hint(), "trust"); vouch != (n.Cause == holdfast.CauseNew) || !strings.Contains(un.Hint(), "wait ") {
			t.Errorf("the library's hint for %s is %q", n, un.Hint())
		}
		var out bytes.Buffer
		w := &waiter{talker: newTalker(&out), give: func(error) {}}
		w.refused(un)
		w.lines.Wait(async.Forever)
		if vouch := strings.Contains(out.String(), "nodes trust"); vouch != (n.Cause == holdfast.CauseNew) {
			t.Errorf("a wait for %s says %q", n, out.String())
		}
	}
}

// A voucher is wrong where somebody may hold a lock. The hint names it only if all nodes are new.
func TestTheHintToVouchFitsTheCause(t *testing.T) {
	because := func(c holdfast.Cause) holdfast.NodeAnswer {
		return holdfast.NodeAnswer{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: c, VotesIn: 9 * time.Second}
	}
	unused, votes, down := because(holdfast.CauseNew), holdfast.NodeAnswer{Reason: holdfast.ReasonVotes}, holdfast.NodeAnswer{Reason: holdfast.ReasonRefused}
	for _, c := range []struct {
		nodes []holdfast.NodeAnswer
		trust bool
	}{
		{[]holdfast.NodeAnswer{unused}, true},
		{[]holdfast.NodeAnswer{unused, unused, unused}, true},
		{[]holdfast.NodeAnswer{unused, unused, {}}, true},
		{[]holdfast.NodeAnswer{unused, unused, votes}, false},
		{[]holdfast.NodeAnswer{unused, unused, down}, false},
		{[]holdfast.NodeAnswer{unused, unused, because(holdfast.CauseRestarted)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseRestarted)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseGuard)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseCopied)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CausePromoted)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseNamed)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseEvicted)}, false},
		{[]holdfast.NodeAnswer{because(holdfast.CauseVouched)}, false},
	} {
		un := &holdfast.UnavailableError{Name: "x", Nodes: c.nodes}
		var out bytes.Buffer
		w := &waiter{talker: newTalker(&out), give: func(error) {}}
		w.refused(un)
		w.lines.Wait(async.Forever)
		for what, said := range map[string]string{"library": un.Hint(), "command": (&settings{nodes: nodeList{"redis://a"}}).nodesHint(c.nodes), "wait": out.String()} {
			if strings.Contains(said, "trust") != c.trust || what != "wait" && !strings.HasPrefix(said, "wait 9s") {
				t.Errorf("%v: the %s says %q; want a voucher %v", c.nodes, what, said, c.trust)
			}
			if c.trust && !strings.Contains(said, "a lock may be alive until then") {
				t.Errorf("%v: the %s names a voucher without its danger: %q", c.nodes, what, said)
			}
		}
	}
}

// A hint about other settings begins with what this client must change.
func TestTheHintForOtherSettingsBeginsWithTheChange(t *testing.T) {
	for begin, differ := range map[string][]holdfast.Difference{
		"give this client the same list": {{Setting: "nodes", Node: "3", Client: "2"}, {Setting: "cluster", Node: "a", Client: "b"}},
		"add --durable":                  {{Setting: "durable", Node: "yes", Client: "no"}},
		"leave --durable out":            {{Setting: "durable", Node: "no", Client: "yes"}},
		"give --max-ttl 10s":             {{Setting: "max-ttl", Node: "10s", Client: "5s"}},
	} {
		n := holdfast.NodeAnswer{Node: "a", Reason: holdfast.ReasonMisconfigured, Cause: holdfast.CauseSettings, Settings: differ}
		if got := (&settings{}).nodesHint([]holdfast.NodeAnswer{n}); !strings.HasPrefix(got, begin) {
			t.Errorf("%v: %q; want %q first", differ, got, begin)
		}
	}
}

// The hint proposes to wait longer only if a majority may begin to vote without an operator.
func TestWaitingOnIsOfferedWhereItHelps(t *testing.T) {
	answer := func(r holdfast.Reason, c holdfast.Cause) holdfast.NodeAnswer {
		return holdfast.NodeAnswer{Reason: r, Cause: c}
	}
	refused := answer(holdfast.ReasonRefused, "")
	for _, n := range []holdfast.NodeAnswer{
		answer(holdfast.ReasonServerError, node.NoAuth), answer(holdfast.ReasonServerError, node.WrongPass),
		answer(holdfast.ReasonServerError, node.NoPerm), answer(holdfast.ReasonUnwritable, holdfast.CauseMemory),
		answer(holdfast.ReasonMisconfigured, holdfast.CauseSettings), answer(holdfast.ReasonCorrupt, ""),
	} {
		said := func(nodes ...holdfast.NodeAnswer) string {
			return (&app{}).outageLimit(runFlags{}, &waiter{}, &holdfast.UnavailableError{Nodes: nodes})
		}
		if got := said(n, n, refused); got != "no quorum for 1s" {
			t.Errorf("two nodes answer %s: %q", n.Said(), got)
		}
		if got := said(n, refused, refused); got != "no quorum for 1s; with --through-outages the wait continues" {
			t.Errorf("one node answers %s: %q", n.Said(), got)
		}
	}
	if !hopeless([]holdfast.NodeAnswer{answer(holdfast.ReasonUnfit, holdfast.CausePolicy)}) ||
		hopeless([]holdfast.NodeAnswer{answer(holdfast.ReasonMisconfigured, holdfast.CauseStranger)}) || hopeless([]holdfast.NodeAnswer{refused}) {
		t.Error("waiting helps if a server is not forgotten yet or down, and not if it may evict keys")
	}
}

// The reason of a loss is a sentence, which may contain quotes.
func TestTheReasonOfALossIsNotQuoted(t *testing.T) {
	var out bytes.Buffer
	talk := newTalker(&out)
	talk.logger().Warn("lock lost", "name", "x", "why", `taken by a foreign key ("v")`)
	talk.lines.Wait(async.Forever)
	if want := "holdfast: lock lost name=\"x\": taken by a foreign key (\"v\")\n"; out.String() != want {
		t.Errorf("%q; want %q", out.String(), want)
	}
}

func TestAQuestionCountsItsNodes(t *testing.T) {
	if these(1) != "this node" || these(3) != "these 3 nodes" {
		t.Errorf("%s, %s", these(1), these(3))
	}
}
