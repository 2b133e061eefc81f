package answers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// silent is a node that the test never asks.
type silent struct{ node.Node }

func (silent) Addr() string { return "redis://a:1/0" }
func (silent) Close()       {}

// asker is the source of the answers of one node that nobody asks.
func asker(t testing.TB) Source {
	t.Helper()
	set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second / 4, Cluster: "test"}
	here := environment.Of(silent{})
	fan := fanout.New(fanout.Config{
		Nodes: []node.Node{silent{}}, Set: set, Timeout: time.Second, Clock: here.Clock, Random: here.Random, Delay: here.Delay,
		Suspect: here.Suspect, Woken: here.Woken, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { fan.Close(t.Context()) })
	return Source{Fan: fan, Window: set.Window}
}

// publicCauses are the causes of reason.go, by their reason.
var publicCauses = map[verdict.Reason][]verdict.Cause{
	verdict.ReasonQuarantined: {
		verdict.CauseNew, verdict.CauseUnused, verdict.CauseRestarted, verdict.CauseGuard, verdict.CauseEvicted, verdict.CauseCopied, verdict.CauseClockBack, verdict.CauseBootClock, verdict.CauseConfiguration,
		verdict.CauseVouched, verdict.CausePlace, verdict.CausePromoted, verdict.CauseNamed, verdict.CauseSlots, verdict.CauseCame,
	},
	verdict.ReasonUnfit:         {verdict.CauseRole, verdict.CauseCluster, verdict.CausePolicy, verdict.CauseVersion, verdict.CauseAppendfsync, verdict.CauseRewrite, verdict.CauseEpoch, verdict.CauseSeveral},
	verdict.ReasonMisconfigured: {verdict.CauseSettings, verdict.CauseStranger, verdict.CauseCopy},
	verdict.ReasonCorrupt:       {verdict.CauseType},
	verdict.ReasonLost:          {verdict.CauseForced, verdict.CauseElsewhere},
	verdict.ReasonFailed:        {verdict.CauseUnreplicated},
	verdict.ReasonUnwritable:    {verdict.CauseMemory, verdict.CauseSnapshot, verdict.CauseAOF, verdict.CauseMinReplicas},
	verdict.ReasonUnsettled:     {verdict.CauseMinority, verdict.CauseFar, verdict.CauseInexact, verdict.CauseUnread, verdict.CauseMoved},
}

// anyAnswers returns answers with all verdicts, all causes, and all errors.
func anyAnswers() (all []nodescript.Answer) {
	with := &nodescript.Evidence{
		Value: "value", Off: time.Second, Kept: time.Minute,
		Theirs: []nodescript.Peer{{ID: "0123456789", Addr: "redis://b"}}, Ours: []nodescript.Peer{{Addr: "redis://c"}},
	}
	for v := range nodescript.Failed {
		a := nodescript.Answer{Verdict: v, Left: time.Second, Seen: 1, Owner: "web-3~c~1", Rank: -1, Evidence: with}
		all = append(all, a)
		for c := nodescript.NoCause; c.String() != "unknown" || c == nodescript.UnknownCause; c++ {
			a.Cause = c
			all = append(all, a)
		}
	}
	all = append(all, nodescript.Answer{Verdict: nodescript.Held, Owner: "web-3~c~1", Claim: true},
		nodescript.Answer{Verdict: nodescript.OffClock, Took: time.Second})
	all = append(all, nodescript.Answer{Verdict: nodescript.Granted}.Confirmed(&node.Unconfirmed{Want: 1}))
	for _, err := range []error{
		nil, errors.New("odd"), node.ServerError("NOPERM no"), node.ServerError("OOM no"), nodescript.ErrNoScripts, nodescript.ErrVoid, nodescript.Unreadable("what?"),
		syscall.ECONNREFUSED, context.DeadlineExceeded, io.EOF, fanout.Overdue{Timeout: time.Second}, node.ErrClosed,
		quorum.Unsettled{}, quorum.Unsettled{Took: 1, Window: 1}, quorum.Unsettled{Off: 1}, quorum.Unsettled{Unread: 1}, quorum.Unsettled{Moved: 1},
	} {
		all = append(all, nodescript.Answer{Verdict: nodescript.Failed, Err: err}, nodescript.Answer{Verdict: nodescript.Failed, Err: node.NotSent(err)})
	}
	return all
}

// A look asks without admission. So a part of a Redis Cluster answers with an error of its own.
func TestAPartOfARedisClusterIsNamed(t *testing.T) {
	for _, said := range []string{"MOVED 3999 10.0.0.2:6379", "ASK 3999 10.0.0.2:6379", "CLUSTERDOWN Hash slot not served", "CROSSSLOT Keys in request", "TRYAGAIN Multiple keys"} {
		var n verdict.Answer
		Fail(&n, node.ServerError(said))
		if n.Reason != verdict.ReasonUnfit || n.Cause != verdict.CauseCluster || n.Err == nil {
			t.Errorf("%q is %s, %q", said, n.Reason, n.Cause)
		}
	}
}

// Every code has words, and some answer has this code.
func TestEveryReasonHasACodeWordsAndAnAnswer(t *testing.T) {
	c := asker(t)
	if len(verdictReasons) != int(nodescript.Failed)+1 {
		t.Errorf("%d verdicts have a reason; there are %d", len(verdictReasons), nodescript.Failed+1)
	}
	met := map[verdict.Reason]bool{verdict.ReasonVotes: true, verdict.ReasonFree: true, verdict.ReasonFreeNoVote: true} // of Nodes and Status
	for _, a := range anyAnswers() {
		n := c.Of(0, a, 0)
		met[n.Reason] = true
		if n.Said() == "" {
			t.Errorf("no words for the answer %+v", a)
		}
		met[c.Of(0, a, time.Hour).Reason] = true
	}
	codes := map[string]bool{}
	for r := verdict.Reason(0); r.String() != "unknown"; r++ {
		if code := r.String(); codes[code] || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(code) {
			t.Errorf("reason %d has the code %q", r, code)
		}
		codes[r.String()] = true
		if (verdict.Answer{Reason: r}).Said() == "" {
			t.Errorf("%s has no words", r)
		}
		if !met[r] {
			t.Errorf("no answer leads to %s", r)
		}
	}
}

// The causes of nodescript and the public causes are the same. Each cause has words.
func TestEveryCauseHasWords(t *testing.T) {
	known := map[verdict.Cause]bool{}
	for reason, list := range publicCauses {
		for _, cause := range list {
			n := verdict.Answer{Reason: reason, Cause: cause, Value: "value"}
			if why := n.Why(); known[cause] || why == "" || strings.Contains(why, "unknown") {
				t.Errorf("%s, %s: %q", reason, cause, why)
			}
			known[cause] = true
		}
	}
	internal := map[verdict.Cause]bool{}
	for c := nodescript.UnknownCause + 1; c.String() != "unknown"; c++ {
		internal[verdict.Cause(c.String())] = true
		if c != nodescript.TooLate && c != nodescript.Idle && !known[verdict.Cause(c.String())] {
			t.Errorf("%s is no public cause", c)
		}
	}
	for reason, list := range publicCauses {
		for _, cause := range list {
			if reason != verdict.ReasonUnsettled && !internal[cause] {
				t.Errorf("no node answers %s, %s", reason, cause)
			}
		}
	}
	met := map[verdict.Cause]bool{}
	for _, a := range anyAnswers() {
		met[asker(t).Of(0, a, 0).Cause] = true
	}
	for cause := range known {
		if !met[cause] {
			t.Errorf("no answer leads to %s", cause)
		}
	}
}

func TestAnUnknownCodeIsSaidToBeUnknown(t *testing.T) {
	c := asker(t)
	a := nodescript.Answer{Verdict: nodescript.Quarantined, Cause: nodescript.UnknownCause, Left: 7 * time.Second, Evidence: &nodescript.Evidence{Value: "17"}}
	n := c.Of(0, a, 0)
	if want := "quarantined for another 7s: unknown reason 17; "; n.Cause != "17" || n.VotesIn != 7*time.Second || !strings.HasPrefix(n.Said(), want) {
		t.Errorf("%+v: %q; want %q", n, n.Said(), want)
	}
	if n = (verdict.Answer{Reason: 200}); n.Votes() || n.Held() || n.Said() != "unknown reason 200" || n.Reason.String() != "unknown" {
		t.Errorf("a reason that is none: %q", n.Said())
	}
	a.Evidence.Value = "granted\x1b[2K\n"
	if said := c.Of(0, a, 0).Said(); strings.ContainsAny(said, "\x1b\n") || !strings.Contains(said, `unknown reason "granted`) {
		t.Errorf("a hostile code is said as %q", said)
	}
}
