package fanout

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// answers for these tests.
func vacantWith(challenge string) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.Unused, Names: challenge}
}

func challenged(challenge string) nodescript.Answer {
	return nodescript.Answer{Verdict: nodescript.Challenged, Names: challenge}
}

// All nodes must be unused, each of them after the client had the challenges of all.
func TestAllNodesMustBeUnusedAtOneInstant(t *testing.T) {
	var now clock.Instant
	u := newUnused(3)
	note := func(i int, a nodescript.Answer) {
		now += 2
		u.note(i, a, true, now-1, now)
	}
	want := func(what string, i int, want step) {
		t.Helper()
		if got, _ := u.next(i); got != want {
			t.Errorf("%s: step %d for node %d, want %d", what, got, i, want)
		}
	}
	note(0, challenged("a"))
	note(0, vacantWith("a"))
	want("nobody has asked the others", 0, await)
	note(1, challenged("b"))
	note(1, vacantWith("b"))
	note(2, challenged("c"))
	want("node 2 has not answered", 0, await)
	note(2, vacantWith("c"))
	want("it was asked before the client had the challenges", 0, repeat)
	want("it was asked before the client had the challenges", 1, repeat)
	want("the others were asked too early", 2, await)
	note(0, vacantWith("a"))
	want("node 1 was asked too early", 0, await)
	note(1, vacantWith("b2")) // it has lost its memory meanwhile
	want("a challenge is new", 0, repeat)
	for i, c := range []string{"a", "b2", "c"} {
		note(i, vacantWith(c))
	}
	for i := range 3 {
		want("all are unused", i, claim)
	}
	note(0, nodescript.Answer{Verdict: nodescript.Done})
	want("another one votes already", 1, claim)
	note(1, challenged("b3"))
	note(1, vacantWith("b3"))
	want("it has lost its memory since", 1, repeat)
	note(2, nodescript.Answer{Verdict: nodescript.Failed})
	want("a node may be in use", 1, giveUp)
}

// A node that is not on this machine, or that votes, or that did not answer, is not unused.
func TestANodeThatMayBeInUseKeepsTheQuarantines(t *testing.T) {
	for what, c := range map[string]struct {
		a     nodescript.Answer
		local bool
		want  step
	}{
		"unused":            {vacantWith("b"), true, claim},
		"idle":              {nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.Idle, Names: "b"}, true, claim},
		"elsewhere":         {vacantWith("b"), false, giveUp},
		"it restarted":      {nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.Restarted, Names: "b"}, true, giveUp},
		"it is unreachable": {nodescript.Answer{Verdict: nodescript.Failed}, true, giveUp},
		"it votes":          {nodescript.Answer{Verdict: nodescript.Done}, true, repeat},
	} {
		u := newUnused(2)
		for i := range clock.Instant(2) {
			u.note(0, vacantWith("a"), true, 10*i+5, 10*i+6)
			u.note(1, c.a, c.local, 10*i+7, 10*i+8)
		}
		u.note(0, vacantWith("a"), true, 30, 31)
		if got, _ := u.next(0); got != c.want {
			t.Errorf("%s: step %d, want %d", what, got, c.want)
		}
	}
}
