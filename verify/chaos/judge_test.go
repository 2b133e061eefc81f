//go:build linux

package chaos

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// These tests run the judges on histories with a known verdict.

// told returns the events of a process: each lease began, had a deadline and ended.
func told(leases ...[4]int64) *process {
	p := &process{id: 1}
	for i, l := range leases {
		e := Event{Name: "x", Loop: i, Lease: 1, What: wants, At: 1}
		p.events = append(p.events, e)
		e.What, e.At, e.Deadline, e.Token = has, l[0], l[1], l[3]
		p.events = append(p.events, e)
		if l[2] != 0 {
			e.What, e.At = over, l[2]
			p.events = append(p.events, e)
		}
	}
	return p
}

// Readers may have a lock together, and with tokens in any order. A writer has it alone, and its token is above all
// before it.
func TestJudgesTellReadersFromWriters(t *testing.T) {
	reader := func(from, to, token int64) belief {
		return belief{from: from, to: to, token: token, shared: true, name: "x"}
	}
	writer := func(from, to, token int64) belief { return belief{from: from, to: to, token: token, name: "x"} }
	for name, c := range map[string]struct {
		list                           []belief
		overlaps, inversions, together int
	}{
		"readers together":                {[]belief{reader(10, 40, 2), reader(20, 30, 1), reader(25, 50, 2)}, 0, 0, 2},
		"a writer after readers":          {[]belief{reader(10, 40, 2), reader(20, 30, 1), writer(40, 50, 3)}, 0, 0, 1},
		"a writer beside readers":         {[]belief{reader(10, 40, 2), reader(20, 30, 1), writer(35, 50, 3)}, 1, 0, 1},
		"a reader beside a writer":        {[]belief{writer(10, 40, 1), reader(20, 30, 2)}, 1, 0, 0},
		"a writer below a reader":         {[]belief{reader(10, 20, 5), reader(12, 20, 3), writer(20, 30, 4)}, 0, 1, 1},
		"a reader below a writer":         {[]belief{writer(10, 20, 5), reader(20, 30, 4)}, 0, 1, 0},
		"a reader below a reader, behind": {[]belief{writer(10, 20, 1), reader(20, 30, 5), reader(40, 50, 4)}, 0, 0, 0},
	} {
		for i := range c.list {
			c.list[i].wanted = c.list[i].from - 1
		}
		if got := len(overlaps(c.list)); got != c.overlaps {
			t.Errorf("%s: %d overlaps, want %d", name, got, c.overlaps)
		}
		if got := len(inversions(c.list)); got != c.inversions {
			t.Errorf("%s: %d inversions, want %d", name, got, c.inversions)
		}
		if got := together(c.list); got != c.together {
			t.Errorf("%s: %d together, want %d", name, got, c.together)
		}
		if l := linear(c.list, true, "", checkerTimeout); (l.illegal > 0) != (c.overlaps+c.inversions > 0) || l.unknown > 0 {
			t.Errorf("%s: %d windows are illegal, %d undecided; overlaps %d, inversions %d", name, l.illegal, l.unknown, c.overlaps, c.inversions)
		}
	}
}

func TestJudgesTellGoodHistoriesFromBadOnes(t *testing.T) {
	for name, c := range map[string]struct {
		p                    *process
		overlaps, inversions int
	}{
		"one after the other":                 {told([4]int64{10, 90, 20, 1}, [4]int64{20, 90, 30, 2}), 0, 0},
		"two at the same time":                {told([4]int64{10, 90, 21, 1}, [4]int64{20, 90, 30, 2}), 1, 0},
		"one inside another":                  {told([4]int64{10, 90, 50, 1}, [4]int64{20, 90, 25, 2}, [4]int64{30, 90, 35, 3}), 2, 0},
		"unlocked after its deadline":         {told([4]int64{10, 15, 40, 1}, [4]int64{20, 90, 30, 2}), 0, 0},
		"never ended, with a deadline":        {told([4]int64{10, 15, 0, 1}, [4]int64{20, 90, 30, 2}), 0, 0},
		"never ended, without a deadline":     {told([4]int64{10, 0, 0, 1}, [4]int64{20, 90, 30, 2}), 1, 0},
		"a token below that before":           {told([4]int64{10, 90, 20, 2}, [4]int64{20, 90, 30, 1}), 0, 1},
		"one token twice":                     {told([4]int64{10, 90, 20, 2}, [4]int64{20, 90, 30, 2}), 0, 1},
		"returned when it was over, of old":   {told([4]int64{10, 90, 20, 2}, [4]int64{30, 25, 31, 1}), 0, 0},
		"both wrong":                          {told([4]int64{10, 90, 25, 2}, [4]int64{20, 90, 30, 1}), 1, 1},
		"without tokens, one after the other": {told([4]int64{10, 90, 20, 0}, [4]int64{20, 90, 30, 0}), 0, 0},
	} {
		all, _ := c.p.beliefs(1000)
		list := byName(all)["x"]
		if got := len(overlaps(list)); got != c.overlaps {
			t.Errorf("%s: %d overlaps, want %d", name, got, c.overlaps)
		}
		if got := len(inversions(list)); got != c.inversions {
			t.Errorf("%s: %d inversions, want %d", name, got, c.inversions)
		}
		l := linear(list, false, "", checkerTimeout)
		if (l.illegal > 0) != (c.overlaps > 0) || l.unknown > 0 {
			t.Errorf("%s: as a mutex %d windows are illegal, %d undecided; overlaps %d", name, l.illegal, l.unknown, c.overlaps)
		}
		if list[0].token == 0 {
			continue
		}
		l = linear(list, true, "", checkerTimeout)
		if (l.illegal > 0) != (c.overlaps+c.inversions > 0) {
			t.Errorf("%s: as a fenced mutex %d windows are illegal; overlaps %d, inversions %d", name, l.illegal, c.overlaps, c.inversions)
		}
	}
}

func TestABadLeaseInALongHistoryIsFoundInItsWindow(t *testing.T) {
	var leases [][4]int64
	for i := range int64(1000) {
		leases = append(leases, [4]int64{100 + 10*i, 1e9, 109 + 10*i, i + 1})
	}
	for _, at := range []int{0, 1, window - 2, window - 1, window, 998} {
		bad := append([][4]int64(nil), leases...)
		bad[at][2] += 5 // the end moves into the next lease
		all, _ := told(bad...).beliefs(1e9)
		if l := linear(byName(all)["x"], true, "x", checkerTimeout); l.illegal == 0 || len(l.draw) != 1 {
			t.Errorf("an overlap of lease %d: %d of %d windows are illegal, and %d can be drawn", at, l.illegal, l.windows, len(l.draw))
		}
	}
	all, _ := told(leases...).beliefs(1e9)
	if l := linear(byName(all)["x"], true, "x", checkerTimeout); l.windows < 6 || l.illegal+l.unknown > 0 || len(l.draw) > 0 {
		t.Errorf("a good history: %d of %d windows illegal, %d undecided, %d pictures", l.illegal, l.windows, l.unknown, len(l.draw))
	}
}

// An objection of the checker alone is as important as an objection of the other judges.
func TestTheHistoryIsKeptWhicheverJudgeObjects(t *testing.T) {
	resource := redistest.Start(t)
	for name, c := range map[string]struct {
		p              *process
		found          string
		kept, pictures int
	}{
		"nobody":           {told([4]int64{10, 90, 20, 1}, [4]int64{20, 90, 30, 2}), "", 0, 0},
		"all":              {told([4]int64{10, 90, 21, 1}, [4]int64{20, 90, 30, 2}), "overlaps", 2, 2},
		"only the checker": {told([4]int64{10, 90, 20, 1}, [4]int64{20, 90, 30, 0}), "not linearizable", 2, 1},
	} {
		a := &arena{t: t, dir: t.TempDir(), resource: resource, plan: Plan{Keep: t.TempDir()}.withDefaults(), processes: []*process{c.p}}
		r := &Report{Plan: a.plan, Faults: map[string]int{}, Refusals: map[string]int{}, MisfitsRefused: map[string]int{}, MisfitsGranted: map[string]int{}, MisfitsUnsure: map[string]int{}}
		a.judge(r, 1000)
		if said := strings.Join(r.Broken(), "; "); !strings.Contains(said, c.found) || (said == "") != (c.found == "") {
			t.Errorf("%s objects: it is said %q", name, said)
		}
		kept, _ := filepath.Glob(filepath.Join(a.plan.Keep, "*", "*.jsonl"))
		pictures, _ := filepath.Glob(filepath.Join(a.plan.Keep, "*", "*.html"))
		if len(kept) != c.kept || len(pictures) != c.pictures || (r.Kept == "") != (c.kept == 0) {
			t.Errorf("%s objects: %q and %q are kept in %q, want %d histories and %d pictures", name, kept, pictures, r.Kept, c.kept, c.pictures)
		}
	}
}

func TestAProcessThatStoodStillBelievesUntilItsDeadlineOnly(t *testing.T) {
	p := told([4]int64{10, 30, 90, 1}, [4]int64{10, 0, 90, 1})
	p.frozen = []span{{20, 80}}
	list, _ := p.beliefs(1000)
	for _, b := range list {
		want := int64(30)
		if b.loop == 1 { // this loop does not report until when it would have relied on the lock
			want = 20
		}
		if b.to != want || b.late != 0 {
			t.Errorf("loop %d believed until %d, want %d; late by %d, want 0", b.loop, b.to, want, b.late)
		}
	}
}

func TestAProcessThatRanIsToldHowLateItNoticed(t *testing.T) {
	p := told([4]int64{10, 30, 90, 1}, [4]int64{10, 30, 25, 2})
	// No pause lies between the deadline and the time at which the process noticed it.
	p.frozen = []span{{5, 20}, {95, 99}}
	p.stood = []span{{20, 35}, {40, 45}}
	list, _ := p.beliefs(1000)
	late := map[int64]time.Duration{1: 50, 2: 0} // the delays by token
	for _, b := range list {
		if b.late != late[b.token] {
			t.Errorf("a deadline of 30 and a notice at %d: late by %d, want %d", map[int64]int{1: 90, 2: 25}[b.token], b.late, late[b.token])
		}
	}
	a := &arena{t: t, dir: t.TempDir(), resource: redistest.Start(t)}
	r := &Report{Plan: Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond}}
	if a.count(r, list); r.LatestNotice != 50 {
		t.Errorf("the latest notice is %d after its deadline, want 50", r.LatestNotice)
	}
	if got := r.Plan.margin(); got != 822*time.Millisecond {
		t.Errorf("another may have the lock %s after a deadline, want 4 W + TTL/100 + 2 ms", got)
	}
}

func TestALossIsToldBeforeTheNextLeaseBegins(t *testing.T) {
	for name, c := range map[string]struct {
		p    *process
		want int
	}{
		"told at its deadline, before the next":          {told([4]int64{10, 30, 30, 1}, [4]int64{35, 90, 50, 2}), 0},
		"told late, as the next begins":                  {told([4]int64{10, 30, 35, 1}, [4]int64{35, 90, 50, 2}), 0},
		"told after the next began":                      {told([4]int64{10, 30, 36, 1}, [4]int64{35, 90, 50, 2}), 1},
		"told after the next was over, and another":      {told([4]int64{10, 30, 80, 1}, [4]int64{35, 90, 40, 2}, [4]int64{45, 90, 50, 3}), 1},
		"given back late, nobody is next":                {told([4]int64{10, 30, 80, 1}), 0},
		"never told: it was killed":                      {told([4]int64{10, 30, 0, 1}, [4]int64{35, 90, 50, 2}), 0},
		"it had no deadline":                             {told([4]int64{10, 0, 40, 1}, [4]int64{45, 90, 50, 2}), 0},
		"the next began before: that is an overlap":      {told([4]int64{10, 30, 80, 1}, [4]int64{20, 90, 29, 2}), 0},
		"the next began before, and one more afterwards": {told([4]int64{10, 30, 80, 1}, [4]int64{20, 90, 29, 2}, [4]int64{40, 90, 50, 3}), 1},
	} {
		all, _ := c.p.beliefs(1000)
		list := byName(all)["x"]
		if got := len(untold(list, nil)); got != c.want {
			t.Errorf("%s: %d found, want %d", name, got, c.want)
		}
		for stood, excused := range map[span]bool{{28, 32}: true, {33, 34}: true, {20, 0}: true, {5, 30}: false, {80, 99}: false} {
			want := c.want
			if excused {
				want = 0
			}
			if got := len(untold(list, map[int][]span{1: {stood}, 2: {{0, 1000}}})); got != want {
				t.Errorf("%s, and its process stood from %d to %d: %d found, want %d", name, stood.from, stood.to, got, want)
			}
		}
	}
}

func TestWaitsCountWhileAMajorityIsWellAndTheProcessRuns(t *testing.T) {
	p := Plan{TTL: time.Second, Window: 100 * time.Millisecond}
	s := int64(time.Second)
	a := &arena{plan: p, nodes: make([]*node, 3), injuries: []*injury{
		{From: 10 * s, To: 20 * s, Nodes: []int{0}},
		{From: 12 * s, To: 14 * s, Nodes: []int{1}},
	}}
	ill := a.sick()
	if want := (span{12 * s, 14*s + int64(p.settling())}); len(ill) != 1 || ill[0] != want {
		t.Fatalf("sick in %v, want %v", ill, want)
	}
	frozen := map[int][]span{1: {{5 * s, 6 * s}}}
	got, _, _ := a.starvation([]wish{{1, "x", 4 * s, 13 * s, true}, {2, "x", 12 * s, 13 * s, true}}, frozen)
	if got != 7*time.Second { // 9 s, of which the nodes were sick for 1 s and the client was stopped for 1 s
		t.Errorf("the longest wait is %s, want 7s", got)
	}
}

func TestRecoveryCountsFromWhenANameWasWantedAndFree(t *testing.T) {
	const healed = 100
	for name, c := range map[string]struct {
		beliefs []belief
		wishes  []wish
		want    time.Duration
	}{
		"wanted before":             {nil, []wish{{1, "x", 10, 150, true}}, 50},
		"wanted later":              {nil, []wish{{1, "x", 130, 150, true}}, 20},
		"another wanted it before":  {nil, []wish{{1, "x", 130, 150, true}, {2, "x", 20, 190, true}}, 50},
		"who wanted it was killed":  {nil, []wish{{1, "x", 130, 150, true}, {3, "x", 20, 190, false}}, 20},
		"somebody alive had it":     {[]belief{{client: 2, name: "x", from: 50, to: 140}}, []wish{{1, "x", 10, 150, true}}, 10},
		"somebody dead had it":      {[]belief{{client: 3, name: "x", from: 50, to: 140}}, []wish{{1, "x", 10, 150, true}}, 50},
		"the second grant":          {nil, []wish{{1, "x", 10, 150, true}, {2, "x", 10, 400, true}}, 50},
		"a grant before the faults": {nil, []wish{{2, "x", 10, 90, true}, {1, "x", 10, 150, true}}, 50},
		"another name":              {nil, []wish{{1, "x", 10, 150, true}, {1, "y", 10, 180, true}}, 80},
	} {
		if got, _ := recovered([]string{"x", "y"}, healed, c.beliefs, c.wishes, map[int]bool{3: true}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestRecoveryMayTakeAQuarantineOnlyWhereAMajorityForgot(t *testing.T) {
	r := &Report{Plan: Plan{Locker: "holdfast", TTL: 10 * time.Second, Window: 250 * time.Millisecond}}
	if got := r.bound() - hurry; got != 11*time.Second {
		t.Errorf("where a majority kept its memory: %s, want TTL + 1 s", got)
	}
	r.Forgot = true
	if got := r.bound() - hurry; got != 12250*time.Millisecond {
		t.Errorf("where it did not: %s, want MaxTTL + W, 1 s to find out and 1 s to ask", got)
	}
}

// Many waiters and readers are quickly judged, although each of them asked at the beginning.
func TestAWindowWithManyWaitersIsDecided(t *testing.T) {
	var list []belief
	for i := range int64(window) {
		b := belief{name: "x", client: int(i), wanted: 1, token: i + 1, shared: i%10 != 9}
		if b.from, b.to = 100*(i/10*10)+10*(i%10)+10, 100*(i/10*10)+200+10*((i*7)%10); !b.shared {
			b.from, b.to = 100*(i/10*10)+400, 100*(i/10*10)+500
		}
		list = append(list, b)
	}
	for _, fenced := range []bool{false, true} {
		if l := linear(list, fenced, "x", time.Second); l.windows != 1 || l.illegal+l.unknown > 0 {
			t.Errorf("fenced %t: %d of %d windows are illegal, %d undecided", fenced, l.illegal, l.windows, l.unknown)
		}
	}
}
