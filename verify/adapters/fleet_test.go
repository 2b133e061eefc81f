package check

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

const (
	jobs  = 20
	short = 5 * time.Millisecond // the time of a run: much shorter than the clocks are apart
	hold  = -1                   // a run until its context ends
)

// ticksEach returns the number of ticks of each job: 1,000 ticks in all, or 100 with -short.
func ticksEach() int {
	if testing.Short() {
		return 100 / jobs
	}
	return 1000 / jobs
}

// Three processes, whose clocks are 200 ms apart, run 20 jobs of 5 ms. No tick runs twice, and none is missing.
func TestEachTickRunsOnce(t *testing.T) {
	for _, kind := range []string{"locker", "robfig"} {
		t.Run(kind, func(t *testing.T) {
			a := newArena(t, kind, redistest.StartN(t, 3))
			a.start(threeApart(200*time.Millisecond), short, jobs)
			a.awaitTicks(ticksEach())
			all := a.finish()
			ran := countRuns(all)
			doubles, missing := ran.judge(a.every)
			t.Logf("%d ticks, %d runs, %d runs too many, %d ticks missing", ran.ticks(), ran.runs, doubles, missing)
			if doubles > 0 || missing > 0 || len(ran.byJob) != jobs {
				t.Errorf("%d runs too many, %d ticks missing, %d jobs", doubles, missing, len(ran.byJob))
			}
			refused := 0
			for _, l := range all {
				if l.what == "refused" && !strings.Contains(l.text, " by p") && !strings.Contains(l.text, ": p") {
					t.Errorf("the error of a refused run names no process: %s", l.text)
				}
				if l.what == "refused" {
					refused++
				}
			}
			if kind == "locker" && refused < ran.ticks() {
				t.Errorf("AfterLockError was told of %d runs of %d ticks", refused, ran.ticks())
			}
		})
	}
}

// A process that has no way to the servers loses its lock. The context of its run ends before another run begins.
func TestARunEndsBeforeTheNextBegins(t *testing.T) {
	for _, kind := range []string{"locker", "elector", "robfig"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, kind, redistest.StartN(t, 3))
			a.start(threeApart(200*time.Millisecond), hold, 1)
			begins := func(l line) bool { return l.what == "begin" }
			const rounds = 3
			for round := range rounds {
				runs := a.awaits(round+1, "begin", begins)
				if kind == "locker" {
					a.awaits(1, "a refusal that names "+runs.label, func(l line) bool {
						return l.what == "refused" && strings.Contains(l.text, "by "+runs.label)
					})
				}
				a.procs[runs.label].cut(true)
				if next := a.awaits(round+2, "begin", begins); next.label == runs.label {
					t.Errorf("%s runs although it has no way to the servers", next.label)
				}
				a.procs[runs.label].cut(false)
			}
			running := ""
			fence := int64(0)
			for _, l := range a.finish() {
				switch {
				case l.what == "begin" && running != "":
					t.Errorf("%s begins while %s runs", l.label, running)
				case l.what == "begin" && l.fence <= fence:
					t.Errorf("%s has the token %d, after %d", l.label, l.fence, fence)
				}
				switch l.what {
				case "begin":
					running, fence = l.label, l.fence
				case "end":
					running = ""
				}
			}
		})
	}
}

// Only the scheduler of the leader works. When it is killed, another one leads.
func TestTheLeaderWorksUntilItIsKilled(t *testing.T) {
	a := newArena(t, "elector", redistest.StartN(t, 3))
	a.start(threeApart(200*time.Millisecond), short, 3)
	leader := a.awaits(20, "begin", func(l line) bool { return l.what == "begin" }).label
	a.kill(leader)
	next := a.awaits(20, "begin by another", func(l line) bool { return l.what == "begin" && l.label != leader }).label
	last := line{}
	for _, l := range a.finish() {
		if l.what != "begin" {
			continue
		}
		if l.fence < last.fence || l.fence == last.fence && l.label != last.label {
			t.Errorf("%s works with the token %d after %s with %d", l.label, l.fence, last.label, last.fence)
		}
		last = l
	}
	if next == leader || last.label != next && last.label == leader {
		t.Errorf("after %s was killed, %s leads", leader, last.label)
	}
}
