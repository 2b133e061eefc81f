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
	"github.com/holdfast-go/holdfast/verdict"
)

// The hint to vouch for nodes in quarantine may lead to two holders if a lock is alive. So a wait that met a holder
// does not show the hint.
func TestAWaitThatMetAHolderDoesNotHintToVouch(t *testing.T) {
	quarantined := &holdfast.UnavailableError{Name: "x", Nodes: []verdict.Answer{
		{Node: "a", Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: 9 * time.Second},
	}}
	for met, held := range map[string]error{"nobody": nil, "a holder": &holdfast.HeldError{Name: "x", Holders: []verdict.Holder{{Owner: "web-3~1~2~3"}}, ExpiresIn: 9 * time.Second}} {
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
	quarantined := func(in time.Duration) verdict.Answer {
		return verdict.Answer{Node: in.String(), Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: in}
	}
	var out bytes.Buffer
	w := &waiter{talker: newTalker(&out), give: func(error) {}}
	a, b, silent := quarantined(7*time.Second), quarantined(10100*time.Millisecond), verdict.Answer{Node: "silent"}
	for _, nodes := range [][]verdict.Answer{{a, silent, silent}, {a, silent, silent}, {a, b, silent}, {a, b, silent}} {
		w.refused(&holdfast.UnavailableError{Name: "x", Nodes: nodes})
	}
	w.lines.Wait(async.Forever)
	if said := out.String(); strings.Count(said, "hint: wait 7s") != 1 || strings.Count(said, "hint: wait 11s") != 1 {
		t.Errorf("it said %q", said)
	}
}

// A voucher does not shorten the quarantine of a node that waits for its place among the members. So there is no hint.
func TestNoHintToVouchForANodeThatWaitsForItsPlace(t *testing.T) {
	place := verdict.Answer{Node: "a", Reason: verdict.ReasonQuarantined, Cause: verdict.CausePlace, VotesIn: 6700 * time.Millisecond}
	unused := verdict.Answer{Node: "b", Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: 9 * time.Second}
	var s settings
	if got := s.nodesHint([]verdict.Answer{place, place}); got != "wait 6.7s; nothing shortens this" {
		t.Errorf("the hint is %q", got)
	}
	if got := s.nodesHint([]verdict.Answer{place, unused}); strings.Contains(got, "nodes trust") || !strings.HasPrefix(got, "wait 9s") {
		t.Errorf("for a node that was never used, too, the hint is %q", got)
	}
	for _, n := range []verdict.Answer{place, unused} {
		un := &holdfast.UnavailableError{Nodes: []verdict.Answer{n}}
		if vouch := strings.Contains(un.Hint(), "trust"); vouch != (n.Cause == verdict.CauseNew) || !strings.Contains(un.Hint(), "wait ") {
			t.Errorf("the library's hint for %s is %q", n, un.Hint())
		}
		var out bytes.Buffer
		w := &waiter{talker: newTalker(&out), give: func(error) {}}
		w.refused(un)
		w.lines.Wait(async.Forever)
		if vouch := strings.Contains(out.String(), "nodes trust"); vouch != (n.Cause == verdict.CauseNew) {
			t.Errorf("a wait for %s says %q", n, out.String())
		}
	}
}

// A voucher is wrong where somebody may hold a lock. The hint names it only if all nodes are new.
func TestTheHintToVouchFitsTheCause(t *testing.T) {
	because := func(c verdict.Cause) verdict.Answer {
		return verdict.Answer{Node: "a", Reason: verdict.ReasonQuarantined, Cause: c, VotesIn: 9 * time.Second}
	}
	unused, votes, down := because(verdict.CauseNew), verdict.Answer{Reason: verdict.ReasonVotes}, verdict.Answer{Reason: verdict.ReasonRefused}
	for _, c := range []struct {
		nodes []verdict.Answer
		trust bool
	}{
		{[]verdict.Answer{unused}, true},
		{[]verdict.Answer{unused, unused, unused}, true},
		{[]verdict.Answer{unused, unused, {}}, true},
		{[]verdict.Answer{unused, unused, votes}, false},
		{[]verdict.Answer{unused, unused, down}, false},
		{[]verdict.Answer{unused, unused, because(verdict.CauseRestarted)}, false},
		{[]verdict.Answer{because(verdict.CauseRestarted)}, false},
		{[]verdict.Answer{because(verdict.CauseGuard)}, false},
		{[]verdict.Answer{because(verdict.CauseCopied)}, false},
		{[]verdict.Answer{because(verdict.CausePromoted)}, false},
		{[]verdict.Answer{because(verdict.CauseNamed)}, false},
		{[]verdict.Answer{because(verdict.CauseEvicted)}, false},
		{[]verdict.Answer{because(verdict.CauseVouched)}, false},
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
	for begin, differ := range map[string][]verdict.Difference{
		"give this client the same list": {{Setting: "nodes", Node: "3", Client: "2"}, {Setting: "cluster", Node: "a", Client: "b"}},
		"add --durable":                  {{Setting: "durable", Node: "yes", Client: "no"}},
		"leave --durable out":            {{Setting: "durable", Node: "no", Client: "yes"}},
		"give --max-ttl 10s":             {{Setting: "max-ttl", Node: "10s", Client: "5s"}},
		"leave --cluster out":            {{Setting: "cluster", Node: "redis-cluster", Client: "other"}},
		"give --cluster fleet":           {{Setting: "cluster", Node: "fleet", Client: "redis-cluster"}},
	} {
		n := verdict.Answer{Node: "a", Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings, Settings: differ}
		if strings.Contains(begin, "--cluster") {
			n.Master = "10.0.0.1:6379" // a shard of a Redis Cluster
		}
		if got := (&settings{}).nodesHint([]verdict.Answer{n}); !strings.HasPrefix(got, begin) {
			t.Errorf("%v: %q; want %q first", differ, got, begin)
		}
	}
}

// The hint proposes to wait longer only if a majority may begin to vote without an operator.
func TestWaitingOnIsOfferedWhereItHelps(t *testing.T) {
	answer := func(r verdict.Reason, c verdict.Cause) verdict.Answer {
		return verdict.Answer{Reason: r, Cause: c}
	}
	refused := answer(verdict.ReasonRefused, "")
	for _, n := range []verdict.Answer{
		answer(verdict.ReasonServerError, node.NoAuth), answer(verdict.ReasonServerError, node.WrongPass),
		answer(verdict.ReasonServerError, node.NoPerm), answer(verdict.ReasonUnwritable, verdict.CauseMemory),
		answer(verdict.ReasonMisconfigured, verdict.CauseSettings), answer(verdict.ReasonCorrupt, ""),
	} {
		said := func(nodes ...verdict.Answer) string {
			return (&app{}).outageLimit(runFlags{}, &waiter{}, &holdfast.UnavailableError{Nodes: nodes})
		}
		if got := said(n, n, refused); got != "no quorum for 1s" {
			t.Errorf("two nodes answer %s: %q", n.Said(), got)
		}
		if got := said(n, refused, refused); got != "no quorum for 1s; with --through-outages the wait continues" {
			t.Errorf("one node answers %s: %q", n.Said(), got)
		}
	}
	if !hopeless([]verdict.Answer{answer(verdict.ReasonUnfit, verdict.CausePolicy)}) ||
		hopeless([]verdict.Answer{answer(verdict.ReasonMisconfigured, verdict.CauseStranger)}) || hopeless([]verdict.Answer{refused}) {
		t.Error("waiting helps if a server is not forgotten yet or down, and not if it may evict keys")
	}
	wait := func(code string) verdict.Answer {
		n := answer(verdict.ReasonFailed, verdict.CauseUnreplicated)
		n.Err = &node.Unconfirmed{Err: &node.Error{Code: code}}
		return n
	}
	if !hopeless([]verdict.Answer{wait(node.NoPerm)}) || hopeless([]verdict.Answer{wait(node.Generic)}) {
		t.Error("a user without the right to WAIT never gets a confirmed grant")
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
