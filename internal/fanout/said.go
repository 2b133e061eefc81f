package fanout

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/clean"
	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Differs is how the answer of a node begins that votes under another configuration.
const Differs = "configuration differs"

// Said puts a node's answer into a few words for people. offset is how far its clock
// is from the majority's, 0 if not known. It is one line that shows itself, whatever the node wrote.
func Said(a nodescript.Answer, offset time.Duration) string { return clean.Text(said(a, offset)) }

func said(a nodescript.Answer, offset time.Duration) string {
	switch a.Verdict {
	case nodescript.Unanswered:
		return "no answer yet"
	case nodescript.Granted:
		if a.Detail != "" {
			return "granted, but " + a.Detail
		}
		return "granted"
	case nodescript.Extended:
		return "extended"
	case nodescript.Repaired:
		return "had forgotten the lease"
	case nodescript.Done:
		return "done"
	case nodescript.NotMine:
		return "does not have the lease"
	case nodescript.Held:
		return "held " + byWhom(a) + forHowLong(a)
	case nodescript.Lost:
		if a.Owner == "" && !a.Foreign {
			return "the lease is gone"
		}
		return "taken " + byWhom(a)
	case nodescript.Stale:
		return "has seen a later token"
	case nodescript.Poisoned:
		return fmt.Sprintf("has seen a token from the future (%s)", time.UnixMicro(a.Seen).UTC().Format(time.RFC3339))
	case nodescript.OffClock:
		switch {
		case a.Detail != "":
			return a.Detail
		case offset.Abs() < a.Took/2: // which is how late a call of a client with right stamps arrives
			return "the call arrived too late: it was answered after " + ForPeople(a.Took)
		case offset.Abs() < 10*time.Millisecond:
			return "the call arrived too late"
		}
		return fmt.Sprintf("clock off by %+.1fs", offset.Seconds())
	case nodescript.NotAdmitted:
		return "restarting"
	case nodescript.Challenged:
		return "lost its memory again while it was admitted"
	case nodescript.Quarantined:
		s := "quarantined for another " + ForPeople(a.Left)
		if a.Detail != "" {
			s += ": " + a.Detail
		}
		return s
	case nodescript.Misconfigured:
		return Differs + ": " + a.Detail
	case nodescript.Unfit:
		return a.Detail
	case nodescript.Duplicate:
		return "is the same server as " + a.Detail + "; each node needs a server of its own"
	case nodescript.Corrupt:
		return "its record of this name is not one of Holdfast's"
	}
	if l := (overdue{}); errors.As(a.Err, &l) {
		return fmt.Sprintf("timed out: no answer within the node timeout, %s", l.timeout)
	}
	return node.Reason(a.Err)
}

func byWhom(a nodescript.Answer) string {
	if a.Foreign {
		if a.Owner == "" {
			return "by a foreign key of another type"
		}
		return fmt.Sprintf("by a foreign key (%q)", a.Owner)
	}
	label := clean.Label(a.Owner)
	if a.Claim {
		return "for " + label
	}
	return "by " + label
}

func forHowLong(a nodescript.Answer) string {
	if a.Left == nodescript.Forever {
		return " without expiry"
	}
	return " for up to " + ForPeople(a.Left)
}

// ForPeople rounds a duration to what a person reads at a glance.
func ForPeople(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
