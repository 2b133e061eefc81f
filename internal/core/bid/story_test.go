package bid

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// A story is a table of one interleaving. Each line has an event, a colon, and the actions that must follow:
//
//	begin          : queue 012 s1
//	0 granted      :
//	12 held older  : wake rest
//	+20ms next     : held 1s
//
// The bid has three nodes, the ticket 100, a TTL of 10 s, a window of 250 ms and a MaxTTL of 1 m. The clock starts at
// an hour, and +20ms moves it. Stamps are drawn at once: s1, s2 and so on. The events are:
//
//	begin, ask, join, first    Begin, AskAll, Join, JoinFirst
//	again 1s                   AskAgain, with the waiter's longest pause
//	heard 1, handed 1          HeardAgain, Handed: by node 1
//	wanted 1 s2                Wanted, for the stamp 2
//	pass s7                    Passed: from the owner old with the highest stamp 7, and 3 passes; ends in 5 s
//	next, outcome, cut         Next; Outcome, and Outcome of a wait that was cut off. The result comes last
//	end, finish                End, with and without the withdrawal of the question
//	ended                      LeaseEnded
//	is                         what the bid says of itself
//	nostamp                    the next stamp cannot be drawn
//	01 granted                 the answer of nodes 0 and 1 to the current round
//	01#1 granted waiting       their answer to round 1; others wait there
//	0 held older rank=0        also claim, foreign; older, younger, twin, mine, dead; left=20ms
//	0 stale=9, offclock, failed, unsent, quarantined
type story struct {
	t    *testing.T
	m    Machine
	now  clock.Instant
	last int64 // the last stamp
	none bool  // no next stamp can be drawn
}

const start = clock.Instant(time.Hour)

// owners contains the owners in stories. The owner of the bid itself is mine.
var owners = map[string]string{
	"mine":    owner("mine", "client", 100),
	"past":    owner("past", "client", 100), // the owner of an earlier bid of the same wait
	"older":   owner("older", "other", 50),
	"younger": owner("younger", "other", 150),
	"before":  owner("before", "other", 100), // an owner with the same ticket and a smaller name
	"zafter":  owner("zafter", "other", 100), // an owner with the same ticket and a greater name
	"dead":    owner("dead", "other", 10),
	"foreign": "by hand",
}

func owner(label, client string, ticket int64) string {
	return nodescript.NewOwner(label, client, ticket, []byte("random"))
}

func newStory(t *testing.T, n int, ticket int64) *story {
	return &story{t: t, now: start, m: New(Config{
		N: n, Window: 250 * time.Millisecond, MaxTTL: time.Minute, Owner: owners["mine"], TTL: 10 * time.Second, Ticket: ticket,
	})}
}

// tell runs a story of a waiter at three nodes.
func tell(t *testing.T, lines string) *story {
	t.Helper()
	s := newStory(t, 3, 100)
	s.tell(lines)
	return s
}

func (s *story) tell(lines string) {
	s.t.Helper()
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		event, want, _ := strings.Cut(line, ":")
		if line == "" {
			continue
		}
		got := strings.Join(s.event(strings.Fields(event)), " ")
		if !slices.Equal(strings.Fields(got), strings.Fields(want)) {
			s.t.Errorf("%s\n\tgot  %s", line, got)
		}
	}
}

// event makes one event happen. It returns the actions as text.
func (s *story) event(words []string) []string {
	if after, ok := strings.CutPrefix(words[0], "+"); ok {
		s.now = s.now.Add(s.duration(after))
		words = words[1:]
	}
	if words[0][0] >= '0' && words[0][0] <= '9' {
		return s.answers(words)
	}
	m, now, arg := &s.m, s.now, ""
	if len(words) > 1 {
		arg = words[1]
	}
	switch words[0] {
	case "begin":
		return s.did(m.Begin(now))
	case "ask":
		return s.did(m.AskAll(now))
	case "join":
		return s.did(m.Join(now))
	case "first":
		actions, ok := m.JoinFirst(now)
		return append(s.did(actions), fmt.Sprint(ok))
	case "again":
		return s.did(m.AskAgain(now, s.duration(arg)))
	case "heard":
		return s.did(m.HeardAgain(now, s.number(arg)))
	case "handed":
		return s.did(m.Handed(now, s.number(arg)))
	case "wanted":
		return s.did(m.Wanted(now, s.number(arg), int64(s.number(words[2][1:]))))
	case "pass":
		return s.did(m.Passed(Passed{Owner: "old", Highest: int64(s.number(arg[1:])), Over: now.Add(5 * time.Second), Passes: 3}))
	case "next":
		t, actions := m.Next(now, 300*time.Millisecond, AskEvery)
		if t.Won {
			return append(s.did(actions), s.won(t.Lease)...)
		}
		return append(s.did(actions), s.refused(t.Refusal)+pause(t.Pause))
	case "outcome", "cut":
		l, r, actions := m.Outcome(now, words[0] == "cut")
		if r == nil {
			return append(s.did(actions), s.won(l)...)
		}
		return append(s.did(actions), s.refused(r))
	case "end":
		return s.did(m.End(now, true))
	case "finish":
		return s.did(m.End(now, false))
	case "ended":
		m.LeaseEnded()
		return nil
	case "is":
		return s.is()
	case "nostamp":
		s.none = true
		return nil
	}
	s.t.Fatalf("no event %q", words)
	return nil
}

// answers makes nodes answer.
func (s *story) answers(words []string) (did []string) {
	nodes, tag, _ := strings.Cut(words[0], "#")
	round := s.m.tag
	if tag != "" {
		round = s.number(tag)
	}
	a := nodescript.Answer{Rank: -1, Left: 5 * time.Second}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "granted":
			a.Verdict = nodescript.Granted
		case "waiting":
			a.Waiting = true
		case "held":
			a.Verdict = nodescript.Held
		case "claim":
			a.Verdict, a.Claim = nodescript.Held, true
		case "rank":
			a.Rank = s.number(value)
		case "left":
			a.Left = s.duration(value)
		case "stale":
			a.Verdict, a.Seen = nodescript.Stale, int64(s.number(value))
		case "offclock":
			a.Verdict = nodescript.OffClock
		case "quarantined":
			a.Verdict = nodescript.Quarantined
		case "failed":
			a.Verdict, a.Err = nodescript.Failed, errors.New("the answer was lost")
		case "unsent":
			a.Verdict, a.Err = nodescript.Failed, node.NotSent(errors.New("not reached"))
		default:
			known, ok := owners[key]
			if !ok {
				s.t.Fatalf("no owner %q", key)
			}
			a.Owner, a.Foreign = known, key == "foreign"
		}
	}
	for _, n := range nodes {
		did = append(did, s.did(s.m.Answered(s.now, int(n-'0'), round, a))...)
	}
	return did
}

// did returns actions as text. It also draws the stamp for the action Draw.
func (s *story) did(actions []Action) (did []string) {
	draw := false
	for _, a := range actions {
		if draw {
			s.t.Error("an action follows Draw")
		}
		switch a.Do {
		case Draw:
			draw = true
		case Withdraw, Keep, Wake, Rest:
			did = append(did, kinds[a.Do])
		case Raise:
			did = append(did, kinds[a.Do]+fmt.Sprintf("=%d", a.Stamp))
		case Acquire, Queue, Pass:
			if int(a.Tag) != s.m.tag || a.At != s.m.sent {
				s.t.Errorf("a question of round %d at %d, want %d at %d", a.Tag, a.At, s.m.tag, s.m.sent)
			}
			did = append(did, fmt.Sprintf("%s%s %s s%d", kinds[a.Do], s.whose(a.Owner), s.nodes(a.To), a.Stamp))
		case Abort, Release:
			did = append(did, fmt.Sprintf("%s%s %s s%d %s", kinds[a.Do], s.whose(a.Owner), s.nodes(a.To), a.Stamp, a.At.Sub(start)))
		case Quit:
			did = append(did, fmt.Sprintf("%s%s %s %s", kinds[a.Do], s.whose(a.Owner), s.nodes(a.To), a.At.Sub(start)))
		}
	}
	if draw {
		var err error
		if s.none {
			s.none, err = false, errors.New("no stamp")
		} else {
			s.last++
		}
		did = append(did, s.did(s.m.Stamped(s.last, s.now, err))...)
	}
	return did
}

var kinds = map[Do]string{
	Acquire: "acquire", Queue: "queue", Pass: "pass", Withdraw: "withdraw", Keep: "keep", Raise: "raise",
	Abort: "abort", Release: "release", Quit: "quit", Wake: "wake", Rest: "rest",
}

// whose returns the owner of an action, "" if it is the bid's own owner.
func (s *story) whose(owner string) string {
	if owner == s.m.Owner {
		return ""
	}
	return " " + owner
}

func (s *story) nodes(n Nodes) (text string) {
	for i := range s.m.N {
		if n.Has(i) {
			text += strconv.Itoa(i)
		}
	}
	return text
}

// won returns a lease as text: the stamp, the nodes, the deadline, and then each unusual field.
func (s *story) won(l Lease) []string {
	words := []string{"won", fmt.Sprintf("s%d", l.Token), s.nodes(l.By), l.Deadline.Sub(start).String()}
	if l.Others {
		words = append(words, "others")
	}
	if l.Passes > 0 {
		words = append(words, fmt.Sprintf("passes=%d", l.Passes))
	}
	if l.Waited {
		words = append(words, "waited")
	}
	if l.Missing {
		words = append(words, "missing")
	}
	if l.Owner != s.m.Owner || l.Sent != s.m.sent {
		s.t.Errorf("the lease is of %s at %d", l.Owner, l.Sent)
	}
	return words
}

func (s *story) refused(r *Refusal) string {
	if r == nil {
		return ""
	}
	if r.Asked != s.m.sent {
		s.t.Errorf("asked at %d", r.Asked)
	}
	text := [...]string{Unavailable: "unavailable", Held: "held", Contended: "contended"}[r.Kind]
	for _, flag := range []struct {
		is   bool
		name string
	}{{r.Doubt, "doubt"}, {r.Few, "few"}, {r.Cut, "cut"}, {r.Err != nil, "error"}} {
		if flag.is {
			text += "," + flag.name
		}
	}
	return text + " "
}

// pause returns a pause as text: the longest pause, and then the other fields that apply.
func pause(p Pause) string {
	switch {
	case p.About > 0:
		return "~" + p.About.String()
	case p.Part > 0:
		return fmt.Sprintf("~%s part", p.Part)
	case p.Alone:
		return "~" + p.Retry.String()
	case p.Random:
		return p.Most.String() + " random"
	case p.Left > 0 && p.Left < p.Most:
		return p.Left.String() + " left"
	}
	return p.Most.String()
}

// is returns the answers of the bid's own methods as text.
func (s *story) is() (words []string) {
	for name, is := range map[string]bool{
		"1asking": s.m.Asking(), "2undecided": s.m.Undecided(), "3handing": s.m.Handing(), "4passing": s.m.Passing(), "5over": s.m.Over(), "6got": s.m.Got(),
	} {
		if is {
			words = append(words, name)
		}
	}
	slices.Sort(words)
	for i := range words {
		words[i] = words[i][1:]
	}
	return append(words, fmt.Sprintf("s%d", s.m.Stamp()), s.nodes(s.m.Part()))
}

func (s *story) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *story) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}
