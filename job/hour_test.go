package job_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

// entry is an attempt in the test's own book.
type entry struct {
	tick       time.Time
	attempt    int
	began, end time.Time // end is zero if the process died
	state      job.State
}

// ownBook is what a test itself notes about the attempts of a job.
type ownBook struct {
	mu  sync.Mutex
	all []*entry
}

func (b *ownBook) begins(f *fleet, tick job.Tick) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &entry{tick: tick.Time, attempt: tick.Attempt, began: f.now(), state: job.Crashed}
	b.all = append(b.all, e)
	return e
}

// An hour of a fleet of three machines, with runs that fail, hang and die, and deploys one machine after the other. The
// counts and the history on the nodes are those of the test's own book, and no attempt runs twice or beside another.
func TestAnHourOfAFleetIsInItsBook(t *testing.T) {
	for _, crash := range []job.OnCrash{job.CrashSkip, job.CrashRetry} {
		seeds := uint64(4)
		if testing.Short() {
			seeds = 1
		}
		for seed := range seeds {
			t.Run(fmt.Sprint(crash, " ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { anHour(t, crash, rand.New(rand.NewPCG(seed, 0))) })
			})
		}
	}
}

func anHour(t *testing.T, crash job.OnCrash, rng *rand.Rand) {
	f, own := newFleet(t, 3), &ownBook{}
	spec := job.Spec{Name: "x", Schedule: "every 1m", OnCrash: crash, Missed: job.MissedSkip, Retries: 2, Backoff: 5 * time.Second, Timeout: 10 * time.Second, History: 200}
	died := make(chan *process, 100)
	work := func(p *process, ctx context.Context, tick job.Tick) error {
		own.mu.Lock()
		luck := rng.IntN(100)
		own.mu.Unlock()
		e := own.begins(f, tick)
		if time.Sleep(2 * time.Second); luck < 6 {
			p.kill()
			died <- p
			return errDead
		}
		defer func() { e.end = f.now() }()
		switch {
		case luck < 16: // it hangs
			e.state = job.Failed
			<-ctx.Done()
			return ctx.Err()
		case luck < 40:
			e.state = job.Failed
			return errFull
		}
		e.state = job.Done
		return nil
	}
	machine := func() (*process, chan struct{}) {
		s := spec
		drain := make(chan struct{})
		s.Drain = drain
		return f.start(s, work), drain
	}
	first := f.now().Truncate(time.Minute).Add(time.Minute)
	fleet, drains := make([]*process, 3), make([]chan struct{}, 3)
	for i := range fleet {
		fleet[i], drains[i] = machine()
	}
	for minute := range 60 {
		f.until(first.Add(time.Duration(minute)*time.Minute + 50*time.Second))
		for len(died) > 0 { // an operator replaces a machine that died
			p := <-died
			i := slices.Index(fleet, p)
			fleet[i], drains[i] = machine()
		}
		if minute%5 == 4 { // a deploy
			i := minute / 5 % 3
			close(drains[i])
			fleet[i], drains[i] = machine()
		}
	}
	f.until(first.Add(60*time.Minute - 2*time.Second))
	for i := range fleet {
		close(drains[i])
	}
	f.ends.Wait()
	c, last := f.operator()
	defer c.Close()
	own.compare(t, last(), crash)
}

// compare compares the book on the nodes with the test's own.
func (b *ownBook) compare(t *testing.T, o *job.Outcome, crash job.OnCrash) {
	runs, retried, ticks := map[job.State]int{}, 0, map[time.Time]bool{}
	for i, e := range b.all {
		ticks[e.tick] = true
		if i > 0 {
			before := b.all[i-1]
			if e.tick.Before(before.tick) || e.tick.Equal(before.tick) && e.attempt != before.attempt+1 {
				t.Errorf("attempt %d of %s came after attempt %d of %s", e.attempt, e.tick, before.attempt, before.tick)
			}
			if e.began.Before(before.end) {
				t.Errorf("attempt %d of %s began before the end of the one before", e.attempt, e.tick)
			}
			if e.attempt > 1 && (before.state == job.Done || before.state == job.Crashed && crash == job.CrashSkip) {
				t.Errorf("attempt %d of %s repeats a run that was %s", e.attempt, e.tick, before.state)
			}
		}
		if i+1 < len(b.all) && b.all[i+1].tick.Equal(e.tick) {
			retried++
		} else {
			runs[e.state]++
		}
	}
	got := o.Book
	if got.Retried != retried || got.Runs[job.Done] != runs[job.Done] || got.Runs[job.Failed] != runs[job.Failed] || got.Runs[job.Crashed] != runs[job.Crashed] || got.Runs[job.Interrupted] != 0 {
		t.Errorf("the book has %v and %d retries; want %v and %d", got.Runs, got.Retried, runs, retried)
	}
	if got.Missed+len(ticks) != 60 {
		t.Errorf("%d ticks were missed, and %d were run; want 60 together", got.Missed, len(ticks))
	}
	if runs[job.Done] == 0 || runs[job.Failed] == 0 || retried == 0 {
		t.Errorf("the hour was too good: %v, %d retries", runs, retried)
	}
	history := o.History()
	if len(history) != len(b.all) {
		t.Fatalf("the history has %d attempts; want %d", len(history), len(b.all))
	}
	for i, r := range history {
		if e := b.all[len(b.all)-1-i]; !r.Tick.Equal(e.tick) || r.Attempt != e.attempt || r.State != e.state {
			t.Errorf("attempt %d of the history is %s/%d %s; want %s/%d %s", i, r.Tick, r.Attempt, r.State, e.tick, e.attempt, e.state)
		}
	}
}
