package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// patience limits calls to the nodes that have no other limit.
const patience = 5 * time.Second

// acquire takes the locks as the flags say. Its errors are of type *failure, and so have an exit code.
func (a *app) acquire(client *holdfast.Client, names []string, f runFlags, sig *signals) (held, error) {
	w := &waiter{talker: a.talker, settings: &a.settings, client: client, shared: f.shared, through: f.through}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	w.give = cancel
	options := []holdfast.Option{holdfast.OnWait(w.refused)}
	if f.through {
		options = append(options, holdfast.WaitThroughOutages())
	}
	lock, try := calls(client, names, f, options)
	a.hold()
	stop := sig.interrupt(cancel)
	var h held
	var err error
	ended := "" // the limit that ended the wait, as text
	switch {
	case f.wait.given && f.wait.value == 0:
		h, err = try(ctx)
	case f.wait.given:
		bounded, done := context.WithTimeoutCause(ctx, f.wait.value, fmt.Errorf("--wait %s is over", f.wait.value))
		h, err = lock(bounded)
		if over := context.Cause(bounded); over != nil && errors.Is(err, over) {
			ended = over.Error()
			if neverTried(err) {
				h, err = try(ctx)
			}
		} else {
			ended = a.outageLimit(f, w, err)
		}
		done()
	default:
		h, err = lock(ctx)
		ended = a.outageLimit(f, w, err)
	}
	if s := stop(); s != nil {
		// A signal ends the run even if the lock came at the same moment.
		if h != nil {
			a.unlock(h)
		}
		return nil, s
	}
	if self, is := ownRun(client, err, f.shared); is {
		return nil, a.refusal(self, f, "")
	}
	if err != nil {
		return nil, a.refusal(err, f, ended)
	}
	a.resume()
	if w.said != "" {
		a.note("acquired %s", quotedAll(names))
	}
	return h, nil
}

// neverTried reports whether a wait ended before its first attempt. The error of such a wait says nothing about the
// lock.
func neverTried(err error) bool {
	return !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable)
}

// outageLimit returns the limit that ended a wait without a quorum, as text. If a longer wait may help, the text says
// how to wait longer.
func (a *app) outageLimit(f runFlags, w *waiter, err error) string {
	limit := time.Second
	if w.met {
		ttl := f.ttl.value
		if !f.ttl.given {
			ttl = min(10*time.Second, a.maxTTL())
		}
		limit = max(limit, ttl)
	}
	over := fmt.Sprintf("no quorum for %s", limit)
	var un *holdfast.UnavailableError
	if errors.As(err, &un) && hopeless(un.Nodes) {
		return over
	}
	return over + "; with --through-outages the wait continues"
}

// hopeless reports whether a majority of nodes cannot vote before a person repairs something.
func hopeless(nodes []verdict.Answer) bool {
	stuck := 0
	for _, n := range nodes {
		switch n.Reason {
		case verdict.ReasonMisconfigured:
			if n.Cause != verdict.CauseStranger { // a stranger may vote later, when the nodes have forgotten the server that has its place
				stuck++
			}
		case verdict.ReasonUnwritable:
			if n.Cause != verdict.CauseMinReplicas { // replicas may come back
				stuck++
			}
		case verdict.ReasonServerError:
			switch n.Cause {
			case node.NoAuth, node.WrongPass, node.NoPerm:
				stuck++
			}
		case verdict.ReasonCorrupt, verdict.ReasonUnfit, verdict.ReasonDuplicate, verdict.ReasonNoScripts:
			stuck++
		case verdict.ReasonFailed:
			var u *node.Unconfirmed
			if errors.As(n.Err, &u) && node.Code(u.Err) == node.NoPerm { // without the right to WAIT no replica can confirm
				stuck++
			}
		}
	}
	return len(nodes)-stuck < len(nodes)/2+1
}

// refusal converts the error of an attempt into a failure with exit code and hint. ended is the limit that ended the
// wait.
func (a *app) refusal(err error, f runFlags, ended string) error {
	var un *holdfast.UnavailableError
	switch {
	case errors.Is(err, errSelf):
		hint := ""
		if self := (selfHeld{}); errors.As(err, &self) && self.upgrade {
			hint = "leave --shared out of the run around this one, or add it to this one"
		}
		return &failure{code: exitHeld, err: err, hint: hint} // --skip-ok does not apply: this job could never run
	case errors.Is(err, holdfast.ErrHeld):
		if f.skipOK {
			a.note("%s: skipped", trimmed(err))
			return &failure{code: exitOK}
		}
		hint := ""
		var held *holdfast.HeldError
		// If the lock never expires, waiting does not help, so the hint must not suggest it.
		if f.wait.given && f.wait.value == 0 && (!errors.As(err, &held) || held.ExpiresIn >= 0) {
			hint = "without --wait 0 it waits"
		}
		return &failure{code: exitHeld, err: err, hint: hint}
	case errors.Is(err, holdfast.ErrLost): // one of several locks was lost while the run waited for another one
		return &failure{code: exitLost, err: fmt.Errorf("%w; nothing was run", err)}
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: a.settings.unavailableHint(un), ended: ended}
	}
	return usage(inFlags(err), ttlHint(err))
}

// waiter prints which holder a run waits for. It prints a line only when that changes.
type waiter struct {
	*talker
	settings     *settings // nil: print no hint about the default node
	unconfigured bool      // that hint was printed

	give    context.CancelCauseFunc // ends the wait
	client  *holdfast.Client
	shared  bool                 // the run wants the lock together with other readers
	said    string               // the subject of the last line: the name and the holder, or "quorum" and the name
	nodes   map[string]refusalOf // the last printed answer of each node that does not vote
	met     bool                 // another owner had the lock during this wait, so a majority has answered
	through bool                 // the wait continues while no majority answers
	hint    bool                 // print no hint about vouching, because a lock is alive
	vouched time.Time            // the end of the longest quarantine in the last hint about vouching
}

// refused prints the news of a failed attempt. Lock calls it after each failed attempt.
func (w *waiter) refused(err error) {
	var held *holdfast.HeldError
	var un *holdfast.UnavailableError
	switch {
	case errors.As(err, &held):
		w.hint, w.met = true, true
		if _, self := ownRun(w.client, err, w.shared); self {
			w.give(errSelf)
			return
		}
		switch {
		// Only the first waiter in the line waits just for the holder. The others also wait for the waiters before
		// them.
		case held.Place > 1 && w.change(fmt.Sprint(held.Name, held.Holder().Owner, held.Place)):
			w.note("waiting for %q: %s in line behind %s", held.Name, ordinal(held.Place), held.Holder().String())
		case held.Place <= 1 && w.change("held "+held.Name+held.Holder().Owner):
			w.note("waiting for %q: %s", held.Name, held.Said())
		}
	// Without a quarantine, Lock gives up within a second, and its error then says the same.
	case errors.As(err, &un) && (w.through || slices.ContainsFunc(un.Nodes, func(n verdict.Answer) bool { return n.VotesIn > 0 })):
		if w.change("quorum " + un.Name) {
			w.note("waiting for %q: %s", un.Name, answers.NoQuorum(un.Nodes))
		}
		for _, n := range un.Nodes {
			w.refusedBy(n)
		}
		if hint := w.settings.defaultHint(un.Nodes); hint != "" && !w.unconfigured {
			w.unconfigured = true
			w.note("hint: %s", hint)
		}
		// A node that answers later may have a longer quarantine than a hint has named.
		if end := time.Now().Add(longestQuarantine(un.Nodes)); !w.hint && allNew(un.Nodes) && end.Sub(w.vouched) > worthAHint {
			w.vouched = end
			w.note("hint: %s", (&holdfast.UnavailableError{Nodes: un.Nodes}).Hint())
		}
	}
}

// allNew reports whether all nodes that answered have a new memory. Only then can it be right to vouch for them.
func allNew(nodes []verdict.Answer) bool {
	found := false
	for _, n := range nodes {
		switch {
		case n.Cause.IsNew() && n.VotesIn > worthAHint:
			found = true
		case n.Reason != verdict.ReasonUnanswered:
			return false
		}
	}
	return found
}

func longestQuarantine(nodes []verdict.Answer) (longest time.Duration) {
	for _, n := range nodes {
		longest = max(longest, n.VotesIn)
	}
	return longest
}

// ordinal returns "3rd" for 3.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// change notes the thing for which the run waits, and reports whether it is a new one.
func (w *waiter) change(what string) bool {
	changed := w.said != what
	w.said = what
	return changed
}

// refusalOf is a node's answer without its times. If a node gives the same answer again, it is not printed again.
type refusalOf struct {
	reason verdict.Reason
	cause  verdict.Cause
	value  string
	owner  string
}

func (w *waiter) refusedBy(n verdict.Answer) {
	what := refusalOf{n.Reason, n.Cause, n.Value, n.Owner}
	if n.Reason == verdict.ReasonGranted || n.Reason == verdict.ReasonUnanswered || w.nodes[n.Node] == what {
		return
	}
	if w.nodes == nil {
		w.nodes = map[string]refusalOf{}
	}
	w.nodes[n.Node] = what
	if n.VotesIn > 0 {
		w.note("node %s votes in %s: %s", n.Place(), forPeople(n.VotesIn), n.Why())
	} else {
		w.note("node %s", n)
	}
}

// worthAHint is the longest quarantine for which no hint is printed, because it ends by itself soon enough.
const worthAHint = time.Second

// trimmed returns the text of a library's error without "holdfast: ". The command prints this prefix before each line
// anyway.
func trimmed(err error) string { return strings.TrimPrefix(err.Error(), "holdfast: ") }

// forPeople rounds a duration so that a person can read it quickly.
func forPeople(d time.Duration) string {
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
