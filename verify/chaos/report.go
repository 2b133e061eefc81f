//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Report is the result of a run.
type Report struct {
	Plan   Plan
	Length time.Duration

	Faults   map[string]int // faults with effect, by kind
	Vain     map[string]int // faults without effect
	Rounds   int            // complete rounds, in each of which every kind was dealt
	Refusals map[string]int // refusals by their words

	Grants, Losses       int
	Busy                 int // grants of the busy client
	Readers, Together    int // grants of readers, and how many of them began beside another reader
	Overlaps, Inversions int
	ByFault              map[string]int // overlaps, by the last fault that began before them
	Clashes              []string       // the words about each overlap and inversion

	Open, Guarded, Counter Writes
	Stopped                int // how often a client stopped itself between its last check and its write

	MisfitsRefused, MisfitsGranted map[string]int
	MisfitsUnsure                  map[string]int // attempts that failed for another reason

	LongestWait  time.Duration // the longest wait while a majority was well
	Hungriest    string        // the client of that wait
	MedianWait   time.Duration
	Waits        Waits         // in a run with processes that only read
	Untold       int           // leases that began before a running process noticed the end of the previous lease
	LatestNotice time.Duration // how much too late a running process noticed its deadline
	Recovery     time.Duration // the time from the end of faults to a lease of each name; negative: not in time
	Slowest      time.Duration // the slowest name: the time since the faults, or since a wish without a live holder
	SlowestName  string
	Forgot       bool          // no majority voted at the end of the faults, because nodes had lost their memory
	Slow         time.Duration // the time in which a majority of the servers was slow
	Stalled      time.Duration // the time after the faults in which the harness, or a majority of the servers, was late
	Ghosts       []string

	Windows, Illegal, Unknown int    // the results of the linearizability checker
	Kept                      string // the folder with the history of a bad run

	healed int64 // when the faults ended
}

// Writes is the result of writes to a resource.
type Writes struct{ Acked, Refused, Lost int }

func (r *Report) writes(kind string) *Writes {
	return map[string]*Writes{open_: &r.Open, guarded: &r.Guarded, counter: &r.Counter}[kind]
}

// starved returns the longest allowed wait while a majority is well. It is long because clients die all the time. A
// client that dies with a lock keeps the name for a TTL, and so does each earlier waiter that dies after it got the
// lock.
func (r *Report) starved() time.Duration { return 10 * r.Plan.TTL }

// margin returns the shortest allowed time between a lease's deadline and the next lease. A running process must know
// of its loss by then. This package repeats the formula and does not take it from the lock.
func (p Plan) margin() time.Duration { return 4*p.Window + p.TTL/100 + 2*time.Millisecond }

// A round of all kinds takes at least shortestRound, even if Every is short. Each fault adds at least shortestPause.
// The reason is that faults wait for nodes that other faults use, and some faults must not meet.
const (
	shortestRound = 20 * time.Second
	shortestPause = 2 * time.Second
)

// due returns how often each kind of fault must have had an effect. It is nine tenths of the possible rounds, if there
// were at least two rounds, and otherwise 0. A run in which a fault had no effect proves nothing about that fault.
func (r *Report) due() int {
	round := max(time.Duration(len(r.Plan.deck()))*max(r.Plan.Every, shortestPause), shortestRound)
	if r.Plan.For < 2*round {
		return 0
	}
	return int(9 * r.Plan.For / round / 10)
}

// rare lists the kinds of faults that had an effect less often than due.
func (r *Report) rare() (list []string) {
	for _, k := range r.Plan.Faults() {
		if n := r.Faults[k]; n < r.due() {
			list = append(list, fmt.Sprintf("%s took effect %d times and not %d", k, n, r.due()))
		}
	}
	return list
}

// some joins the first few entries of a list.
func some(list []string) string {
	const most = 10
	if n := len(list) - most; n > 0 {
		list = append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(list, ", ")
}

// Broken lists the promises that did not hold.
func (r *Report) Broken() (list []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	say(r.Grants == 0, "nobody got a lock")
	say(r.Readers > 100 && r.Together == 0, "none of %d readers got a lock beside another", r.Readers)
	say(r.Overlaps > 0, "%d overlaps of believed leases", r.Overlaps)
	say(r.Inversions > 0, "%d token inversions", r.Inversions)
	say(r.Guarded.Lost > 0, "%d of %d guarded writes lost", r.Guarded.Lost, r.Guarded.Acked)
	say(r.Counter.Lost > 0, "%d of %d counter writes lost", r.Counter.Lost, r.Counter.Acked)
	say(r.Plan.Busy > 0 && r.Busy == 0, "the busy client got no lock")
	timely := r.Plan.timely()
	say(timely && r.LongestWait > r.starved(), "%s was waited while a majority was well: %s", r.LongestWait, r.Hungriest)
	say(timely && r.Recovery < 0, "no lease of each name within %s after the faults", patience)
	say(timely && r.Slowest > r.bound() && r.Plan.Locker == "holdfast", "%s was granted %s after the faults; at most %s would do", r.SlowestName, r.Slowest, r.bound())
	say(r.Untold > 0, "%d leases began before a process that ran was told that the one before was lost", r.Untold)
	say(r.LatestNotice >= r.Plan.margin(), "a process that ran was told %s after its deadline that it had lost its lock: another may have it after %s", r.LatestNotice, r.Plan.margin())
	say(len(r.Ghosts) > 0, "%d left behind: %s", len(r.Ghosts), some(r.Ghosts))
	list = append(list, r.Waits.broken(r.Plan)...)
	list = append(list, r.rare()...)
	say(r.Illegal > 0, "%d of %d windows not linearizable", r.Illegal, r.Windows)
	say(r.Unknown > 0, "%d of %d windows not decided in time", r.Unknown, r.Windows)
	for _, m := range []string{aliased, fewer, otherwise} {
		say(r.Faults[m] > 0 && r.MisfitsRefused[m] == 0, "nobody refused a %s", m)
	}
	for _, m := range slices.Sorted(maps.Keys(r.MisfitsGranted)) {
		say(true, "%d leases granted to %s", r.MisfitsGranted[m], m)
	}
	return list
}

// Demand fails the test for each promise that did not hold.
func (r *Report) Demand(t testing.TB) {
	t.Helper()
	for _, b := range r.Broken() {
		t.Error(b)
	}
	for i, c := range r.Clashes {
		if i == 20 {
			t.Logf("and %d more", len(r.Clashes)-i)
			break
		}
		t.Log(c)
	}
	if r.Kept != "" {
		t.Logf("the history is in %s", r.Kept)
	}
}

// Tolerate does the same as [Report.Demand] for a run outside of the assumptions. It counts overlaps and their
// consequences, but does not fail for them. Data that a token guards must still be right.
func (r *Report) Tolerate(t testing.TB) {
	t.Helper()
	if r.Grants == 0 {
		t.Error("nobody got a lock")
	}
	for _, what := range r.rare() {
		t.Error(what)
	}
	if r.Guarded.Lost > 0 || r.Counter.Lost > 0 {
		t.Errorf("%d of %d guarded writes lost, %d of %d to the counter", r.Guarded.Lost, r.Guarded.Acked, r.Counter.Lost, r.Counter.Acked)
	}
}

// Markdown returns the report as text for people.
func (r *Report) Markdown() string {
	var b strings.Builder
	p := r.Plan
	where := "within the assumptions"
	if p.outside() {
		where = "outside of the assumptions"
	}
	fmt.Fprintf(&b, "## %s, %s\n\n%s of faults about every %s, seed %d; %d nodes, %d client processes with %d loops each, %d names, TTL %s, W %s.\n\n",
		p.Locker, where, p.For, p.Every, p.Seed, p.Nodes, p.Clients, p.Loops, p.Names, p.TTL, p.Window)
	row := func(what string, v any) { fmt.Fprintf(&b, "| %s | %v |\n", what, v) }
	b.WriteString("| result | |\n|---|---|\n")
	row("leases granted", r.Grants)
	if r.Readers > 0 {
		row("leases of readers, and those beside another reader", fmt.Sprintf("%d, %d", r.Readers, r.Together))
	}
	if p.Busy > 0 {
		row(fmt.Sprintf("leases of a client with %d busy goroutines that look at Err", p.Busy), r.Busy)
	}
	row("of these lost before they were given back", r.Losses)
	row("**overlaps of believed leases**", r.Overlaps)
	if r.Guarded.Acked > 0 {
		row("**token inversions**", r.Inversions)
		row("**guarded register: updates lost** / acknowledged / refused", r.Guarded)
	}
	row("counter file: updates lost / acknowledged / refused", r.Counter)
	row("open register: updates lost / acknowledged / refused", r.Open)
	if p.Pause > 0 {
		row("clients stopped between the last look and the write", r.Stopped)
	}
	row("wait: median", r.MedianWait.Round(time.Millisecond))
	row("wait: longest while a majority was well", fmt.Sprintf("%s (%s)", r.LongestWait.Round(time.Millisecond), r.Hungriest))
	row("from the end of faults to a lease of each name", r.Recovery.Round(time.Millisecond))
	where = "voted"
	if r.Forgot {
		where = "had lost its memory"
	}
	row("of these names the slowest, where nobody alive had it", fmt.Sprintf("%s; a majority %s; at most %s would do", r.Slowest.Round(time.Millisecond), where, r.bound().Round(time.Millisecond)))
	if p.timed() {
		row("a majority of the servers was slow, without a fault", r.Slow.Round(time.Millisecond))
	}
	row("left behind", len(r.Ghosts))
	row("latest notice of a deadline, of a process that ran", fmt.Sprintf("%s; before %s would do", r.LatestNotice.Round(10*time.Microsecond), p.margin()))
	row("leases that began before a process that ran had noticed that the one before was over", r.Untold)
	row("rounds of all kinds of faults; how often each had to take effect", fmt.Sprintf("%d; %d", r.Rounds, r.due()))
	row("linearizability windows: illegal / undecided / judged", fmt.Sprintf("%d / %d / %d", r.Illegal, r.Unknown, r.Windows))
	r.Waits.rows(row)
	table := func(head string, m map[string]int) {
		if len(m) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", head)
		keys := slices.SortedFunc(maps.Keys(m), func(x, y string) int {
			if m[x] != m[y] {
				return m[y] - m[x]
			}
			return strings.Compare(x, y)
		})
		for _, k := range keys {
			row(k, m[k])
		}
	}
	table("overlaps began, by the fault that came last", r.ByFault)
	table("faults that took effect", r.Faults)
	table("faults that had none, and were tried again", r.Vain)
	table("refusals", r.Refusals)
	table("clients that must be refused: refusals", r.MisfitsRefused)
	table("clients that must be refused: attempts that came to nothing for another reason", r.MisfitsUnsure)
	table("clients that must be refused: leases", r.MisfitsGranted)
	return b.String()
}

// String returns the numbers as lost / acked / refused.
func (w Writes) String() string { return fmt.Sprintf("%d / %d / %d", w.Lost, w.Acked, w.Refused) }

// Publish prints the report. It also appends the report to a file, unless file is "".
func (r *Report) Publish(t testing.TB, file string) {
	t.Helper()
	fmt.Println(r.Markdown())
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(r.Markdown() + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}
