package sim

import (
	"fmt"
	"strings"
)

// Outcome is how something ended.
type Outcome uint8

// Outcomes. The first group is of calls, the second of leases, the third of nodes' answers.
const (
	Granted Outcome = iota
	HeldByOther
	HeldByForeign
	Contended
	Unavailable
	Quarantined
	Misconfigured
	OffClock
	Duplicated
	Cancelled
	TimedOut
	ClientClosed

	Unlocked
	UnlockUnheard
	LeftTaken
	Lost
	Extended
	Renewed
	ForeignGranted

	Passed
	HandedOff
	Repaired
	Stale
	NodeOffClock
	NotAdmitted
	NodeLost
	NoScript
	OutOfMemory
	ClaimMet
	Joined
	outcomes
)

var outcomeNames = [outcomes]string{
	"granted", "held", "held by a foreigner", "contended", "unavailable", "quarantined", "misconfigured", "clock off", "twin refused",
	"cancelled", "timed out", "client closed",
	"unlocked", "unlock unheard", "left taken", "lost", "extended by hand", "renewed", "granted to a foreigner",
	"passed in process", "handed off", "repaired", "stale", "node: clock off", "node: not admitted", "node: lease not here", "node: NOSCRIPT",
	"node: OOM", "node: reserved for another", "node: joined a queue",
}

// Tally is how often what happened.
type Tally struct {
	Worlds   int
	Calls    int // TryLock and Lock
	Bids     int // owners that went out to nodes
	Attempts int // of each client the larger of both: nothing is counted twice
	Messages int // to nodes
	Outcomes [outcomes]int
	Faults   [kinds]int
	Orders   int   // pairs of grants whose order was compared with that of their tickets
	Spent    int   // hand-offs to bids that were over
	Waits    int   // grants of a name for which somebody waited, when all was well:
	LongestM int64 // for how long it was free at most, ms
}

// Add adds another tally.
func (t *Tally) Add(o *Tally) {
	t.Worlds += o.Worlds
	t.Calls += o.Calls
	t.Bids += o.Bids
	t.Attempts += o.Attempts
	t.Messages += o.Messages
	t.Waits += o.Waits
	t.Orders += o.Orders
	t.Spent += o.Spent
	t.LongestM = max(t.LongestM, o.LongestM)
	for i := range t.Outcomes {
		t.Outcomes[i] += o.Outcomes[i]
	}
	for i := range t.Faults {
		t.Faults[i] += o.Faults[i]
	}
}

// Missing are the kinds of outcomes and faults that did not occur.
func (t *Tally) Missing() (names []string) {
	for i, n := range t.Outcomes {
		if n == 0 {
			names = append(names, "outcome "+outcomeNames[i])
		}
	}
	for i, n := range t.Faults {
		if n == 0 {
			names = append(names, "fault "+kindNames[i])
		}
	}
	return names
}

// String is the table.
func (t *Tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d attempts (%d calls, %d bids) in %d worlds, %d messages to nodes\n", t.Attempts, t.Calls, t.Bids, t.Worlds, t.Messages)
	fmt.Fprintf(&b, "when all was well a name for which somebody waited was free for up to %d ms (of %d grants); %d pairs of waiters were served in turn; %d hand-offs went to bids that were over\n",
		t.LongestM, t.Waits, t.Orders, t.Spent)
	for i := range max(int(outcomes), int(kinds)) {
		left, right := "", ""
		if i < int(outcomes) {
			left = fmt.Sprintf("%-28s %9d", outcomeNames[i], t.Outcomes[i])
		}
		if i < int(kinds) {
			right = fmt.Sprintf("%-26s %9d", kindNames[i], t.Faults[i])
		}
		fmt.Fprintf(&b, "  %-40s   %s\n", left, right)
	}
	return b.String()
}
