package sim

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is the result of a call, of a lease, or of a request to a node.
type Outcome uint8

// These are the outcomes. The first group belongs to calls, the second to leases, and the third to nodes' answers.
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
	Strange
	Cancelled
	TimedOut
	Panicked
	ClientClosed
	GrantedShared
	JoinedShare
	BesideReaders

	Unlocked
	UnlockUnheard
	LeftTaken
	Lost
	Extended
	Renewed
	Downgraded
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
	Skipped
	outcomes
)

var outcomeNames = [outcomes]string{
	"granted", "held", "held by a foreigner", "contended", "unavailable", "quarantined", "misconfigured", "clock off", "twin refused", "stranger refused",
	"cancelled", "timed out", "callback panicked", "client closed",
	"granted to a reader", "joined by a reader", "granted beside a reader of another client",
	"unlocked", "unlock unheard", "left taken", "lost", "extended by hand", "renewed", "downgraded", "granted to a foreigner",
	"passed in process", "handed off", "repaired", "stale", "node: clock off", "node: not admitted", "node: lease not here", "node: NOSCRIPT",
	"node: OOM", "node: reserved for another", "node: joined a queue", "node: skipped a quarantine",
}

// Tally counts events.
type Tally struct {
	Worlds     int
	Calls      int // calls of TryLock and Lock
	Bids       int // owners that were sent to nodes
	Attempts   int // the larger of Calls and Bids for each client, so that no attempt counts twice
	Messages   int // messages to nodes
	Outcomes   [outcomes]int
	Faults     [kinds]int
	Rare       [rares]int
	Treated    [messages][treatments]int
	Looks      int         // checks for traces of a process that had stopped using a name
	Reaches    int         // leases lost at their deadline that were checked for a reachable majority
	Orders     int         // pairs of grants whose order was compared with their tickets
	Overtakes  int         // grants before an older ticket in the queue
	Silences   int         // waiters that learned of an outage
	UntoldM    int64       // the largest delay of one of these waiters after the promised time, in ms
	Spent      int         // hand-offs to ended attempts
	Declined   int         // hand-offs to ended attempts that cost no claim
	Wanted     int         // partial grants that a holder asked for
	NoticedM   int64       // the longest time until a client found that a necessary node had forgotten, in ms
	Recoveries [2]Recovery // names wanted before they could be granted; 0: a majority kept its memory, 1: it did not
	LetIn      int         // readers that waited beside readers, and no writer had or wanted the name, after all faults
	Waits      int         // grants of a name with waiters, after all faults
	LongestM   int64       // the longest time for which such a name was free, in ms
}

// Recovery says how soon after the end of the faults waiters got their names.
type Recovery struct {
	Grants   int
	LongestM int64 // the longest time since the end of the faults, or since the name was wanted if that is later, in ms
	PastM    int64 // the longest time since no dead client had a lock and a majority voted, in ms
	ClaimedM int64 // the same time, for names with hand-offs to ended attempts
}

func (r *Recovery) add(took, past time.Duration, claimed bool) {
	r.Grants++
	r.LongestM = max(r.LongestM, took.Milliseconds())
	m := &r.PastM
	if claimed {
		m = &r.ClaimedM
	}
	*m = max(*m, past.Milliseconds())
}

// Add adds another tally.
func (t *Tally) Add(o *Tally) {
	t.Worlds += o.Worlds
	t.Calls += o.Calls
	t.Bids += o.Bids
	t.Attempts += o.Attempts
	t.Messages += o.Messages
	t.Waits += o.Waits
	t.LetIn += o.LetIn
	t.Looks += o.Looks
	t.Orders += o.Orders
	t.Overtakes += o.Overtakes
	t.Reaches += o.Reaches
	t.Silences += o.Silences
	t.UntoldM = max(t.UntoldM, o.UntoldM)
	t.Spent += o.Spent
	t.Declined += o.Declined
	t.Wanted += o.Wanted
	for i := range t.Recoveries {
		r, o := &t.Recoveries[i], &o.Recoveries[i]
		r.Grants, r.LongestM, r.PastM, r.ClaimedM = r.Grants+o.Grants, max(r.LongestM, o.LongestM), max(r.PastM, o.PastM), max(r.ClaimedM, o.ClaimedM)
	}
	t.NoticedM = max(t.NoticedM, o.NoticedM)
	t.LongestM = max(t.LongestM, o.LongestM)
	for i := range t.Outcomes {
		t.Outcomes[i] += o.Outcomes[i]
	}
	for i := range t.Faults {
		t.Faults[i] += o.Faults[i]
	}
	for i := range t.Rare {
		t.Rare[i] += o.Rare[i]
	}
	for m := range messages {
		for how := range treatments {
			t.Treated[m][how] += o.Treated[m][how]
		}
	}
}

// manyAttempts is the number of attempts after which a run must have seen even the rarest events.
const manyAttempts = 300_000

// Missing returns the kinds of outcomes and faults that did not occur.
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
	for m := range messages {
		for how := range treatments {
			if t.Attempts >= manyAttempts && t.Treated[m][how] == 0 && !notDrawn[m][how] {
				names = append(names, messageNames[m]+" "+treatmentNames[how])
			}
		}
	}
	for i, n := range t.Rare {
		if n == 0 && (t.Attempts >= manyAttempts || Rare(i) < HolderSeen) {
			names = append(names, "rare "+rareNames[i])
		}
	}
	for _, n := range [...]struct {
		what string
		n    int
	}{
		{"look for what was left behind", t.Looks}, {"pair served in turn", t.Orders}, {"place in line overtaken", t.Overtakes}, {"waiter told of an outage", t.Silences}, {"hand-off declined", t.Declined}, {"part wanted back", t.Wanted},
		{"lease lost at its deadline", t.Reaches},
		{"recovery", t.Recoveries[0].Grants}, {"recovery of lost memories", t.Recoveries[1].Grants}, {"wait when all was well", t.Waits},
		{"wait of a reader beside readers", t.LetIn},
	} {
		if n.n == 0 {
			names = append(names, n.what)
		}
	}
	return names
}

// String returns the table of all counts.
func (t *Tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d attempts (%d calls, %d bids) in %d worlds, %d messages to nodes\n", t.Attempts, t.Calls, t.Bids, t.Worlds, t.Messages)
	fmt.Fprintf(&b, "when all was well a name for which somebody waited was free for up to %d ms (of %d grants); %d pairs of waiters were compared with the order in which they came; %d times nothing was left of who had stopped using a name; %d leases were lost at their deadline, and could not be renewed; %d hand-offs went to bids that were over, and %d of these cost no claim; %d readers waited beside readers, and no writer was in their way\n",
		t.LongestM, t.Waits, t.Orders, t.Looks, t.Reaches, t.Spent, t.Declined, t.LetIn)
	for i, where := range [...]string{"of the nodes voted when the faults were over", "had lost its memory"} {
		r := t.Recoveries[i]
		fmt.Fprintf(&b, "where a majority %s, a name was granted after %d ms at most, which is %d ms after it had to be free, and %d ms where bids that were over had claims (of %d grants)\n",
			where, r.LongestM, r.PastM, r.ClaimedM, r.Grants)
	}
	fmt.Fprintf(&b, "%d times somebody was served before one who stood in line; %d waiters were told of an outage, %d ms later than promised at most, a second of which is the pause between two questions\n", t.Overtakes, t.Silences, t.UntoldM)
	fmt.Fprintf(&b, "that a node had forgotten was found out within %d ms\n", t.NoticedM)
	for i := range max(int(outcomes), int(kinds), int(rares)) {
		left, right, rare := "", "", ""
		if i < int(rares) {
			rare = fmt.Sprintf("%-26s %9d", rareNames[i], t.Rare[i])
		}
		if i < int(outcomes) {
			left = fmt.Sprintf("%-28s %9d", outcomeNames[i], t.Outcomes[i])
		}
		if i < int(kinds) {
			right = fmt.Sprintf("%-26s %9d", kindNames[i], t.Faults[i])
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-40s   %-38s   %s", left, right, rare), " ") + "\n")
	}
	b.WriteString(t.table())
	return b.String()
}
