package doctor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// The fix for a quarantine is to wait, and never for less than the state says.
func TestTheFixOfAQuarantineIsNotShorterThanItsState(t *testing.T) {
	e := &exam{}
	e.votes([]verdict.Answer{{Node: "a", Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: 7400 * time.Millisecond}})
	for _, f := range e.findings {
		if f.Check == "votes" && f.Node == "a" && (!strings.Contains(f.State, "for another 7.4s") || !strings.HasPrefix(f.Fix, "wait 8s;")) {
			t.Errorf("%s; fix: %s", f.State, f.Fix)
		}
	}
}

// The nodes' clocks say how long a lock is held. This machine's clock may be hours away from them.
func TestTheNodesClocksSayHowLongALockIsHeld(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1, redistest.WithClock())
	w.servers[0].Step(-2 * time.Hour)
	if _, err := w.vote().Mutex("x").Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := w.examine("stuck"); len(all) != 1 || all[0].Severity != OK {
		t.Errorf("with OlderThan 1h: %+v", all)
	}
}

// If the nodes cannot be read, the checks of names say why in few words, and the fix says what to do.
func TestUnreadableNamesHaveAFix(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.servers[0].Kill()
	w.servers[1].Kill()
	for _, f := range w.examine("foreign", "stuck") {
		if f.State != "not known: too few nodes could be read: connection refused" || !strings.HasPrefix(f.Fix, "mend what the checks answer and votes say") {
			t.Errorf("%+v", f)
		}
	}
}

// A leader leads for as long as it can, so its lock is not stuck.
func TestALeaderIsNotStuck(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.config.OlderThan = time.Microsecond
	ctx, stop := context.WithCancel(t.Context())
	led := make(chan struct{})
	var run sync.WaitGroup
	run.Go(func() {
		_ = election.New(w.vote(), "leader").Run(ctx, func(ctx context.Context, term election.Term) error {
			if err := term.Publish(ctx, []byte("web-1")); err != nil {
				t.Error(err)
			}
			close(led)
			<-ctx.Done()
			return nil
		})
	})
	<-led
	if all := w.examine("stuck"); len(all) != 1 || all[0].Severity != OK {
		t.Errorf("a leader is stuck: %+v", all)
	}
	stop()
	run.Wait()
}

// about returns the findings of a check about these answers.
func about(check string, answers ...verdict.Answer) (found []Finding) {
	e := &exam{}
	e.votes(answers)
	for _, f := range e.findings {
		if f.Check == check {
			found = append(found, f)
		}
	}
	return found
}

// says fails the test unless there is one finding about this node, with this severity and this text in it.
func says(t *testing.T, all []Finding, node string, s Severity, text string) {
	t.Helper()
	n := 0
	for _, f := range all {
		if f.Node != node {
			continue
		}
		if n++; f.Severity != s || !strings.Contains(f.State+"; fix: "+f.Fix, text) {
			t.Errorf("%s: %s: %s; fix: %s; want %s, %q", or(f.Node, "all"), f.Severity, f.State, f.Fix, s, text)
		}
	}
	if n != 1 {
		t.Errorf("%d findings about %q in %+v", n, node, all)
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

var (
	voter   = verdict.Answer{Node: "a", Reason: verdict.ReasonVotes}
	dead    = verdict.Answer{Node: "b", Reason: verdict.ReasonRefused}
	unasked = verdict.Answer{Node: "b", Reason: verdict.ReasonServerError, Cause: node.NoPerm, Err: node.ServerError("NOPERM no")}
	other   = verdict.Answer{Node: "b", Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings, Settings: []verdict.Difference{{Setting: "max-ttl", Node: "4s", Client: "10s"}}}
	full    = verdict.Answer{Node: "b", Reason: verdict.ReasonUnwritable, Cause: verdict.CauseSnapshot}
	fresh   = verdict.Answer{Node: "b", Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: 7 * time.Second}
)

// A user that may not ask for votes, or other settings, say nothing about the locks of others.
func TestARefusedCommandSaysNothingAboutOthers(t *testing.T) {
	for _, cause := range []verdict.Cause{node.NoPerm, node.NoAuth, node.WrongPass} {
		unasked := unasked
		unasked.Cause = cause
		all := about("votes", unasked, unasked, unasked)
		says(t, all[:1], "b", Note, "not known: ")
		says(t, all, "", Note, "not known whether clients get locks")
	}
	all := about("votes", other, other, other)
	says(t, all[:1], "b", Note, "not known: ")
	says(t, all, "", Bad, "0 of 3 nodes vote for this command; a lock needs 2. Clients with the settings of the nodes may get locks")
	says(t, about("settings", other), "b", Bad, "--max-ttl=4s")
	says(t, about("votes", dead, dead, unasked), "", Bad, "so nobody gets a lock")
}

// A node that did not answer says nothing about its settings, and is subtracted from those that may fail.
func TestANodeThatDidNotAnswerIsNotJudged(t *testing.T) {
	for _, check := range []string{"members", "protocol", "settings"} {
		if all := about(check, voter, dead, unasked); len(all) != 1 || all[0].Node != "a" {
			t.Errorf("%s: %+v", check, all)
		}
	}
	says(t, about("count", voter, voter, voter), "", OK, "3 nodes bear the loss of 1")
	says(t, about("count", voter, dead, voter), "", Warn, "3 nodes bear the loss of 1; 1 without a vote now, so 0 more may fail")
	says(t, about("count", full, dead, voter), "", Bad, "3 nodes bear the loss of 1; 2 without a vote now")
	says(t, about("count", unasked, unasked, unasked), "", Note, "3 nodes bear the loss of 1 if all of them vote; that is not known of 3; fix: see the findings of the check votes")
}

// Each check has a finding, also if no node answers.
func TestADeadSetHasAFindingForEachCheck(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	w.servers[0].Kill()
	all := w.examine()
	for _, check := range Checks {
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == check }) {
			t.Errorf("nothing about %s", check)
		}
	}
	for _, f := range all {
		if f.Severity == OK && f.Check != "tls" && f.Check != "hosts" {
			t.Errorf("%+v", f)
		}
	}
}

// Nothing is wrong with a node whose vote waits for others.
func TestTheHealthyNodeOfABrokenMajority(t *testing.T) {
	healthy := verdict.Answer{Node: "a", Reason: verdict.ReasonUnsettled, Cause: verdict.CauseMinority}
	all := about("votes", full, full, healthy)
	says(t, all, "a", Note, "nothing is wrong with this node: mend the others")
	says(t, all[:1], "b", Bad, "MISCONF")
	says(t, all, "", Bad, "so nobody gets a lock")
}

// A voucher does not shorten the wait of a node that lost its data, if others kept theirs.
func TestAVoucherIsOnlyAdvisedWhereItHelps(t *testing.T) {
	const trust = "nodes trust"
	says(t, about("votes", voter, fresh, voter), "b", Warn, "nothing shortens this")
	for _, f := range about("votes", voter, fresh, voter) {
		if strings.Contains(f.Fix, trust) {
			t.Errorf("%+v", f)
		}
	}
	says(t, about("votes", fresh), "b", Warn, trust)
	restarted := fresh
	restarted.Cause = verdict.CauseRestarted
	says(t, about("votes", voter, restarted), "b", Warn, trust)
}
