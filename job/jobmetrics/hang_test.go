package jobmetrics

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

func TestARunHangsIfItIsLateAndUnusual(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		running, usual, next time.Duration // next: until the next tick; 0: there is none
		want                 bool
	}{
		"a short run":                               {50 * time.Second, time.Second, -time.Hour, false},
		"past the next tick, and unusual":           {3 * time.Minute, 50 * time.Second, -2 * time.Minute, true},
		"past the next tick, and as usual":          {3 * time.Minute, 2 * time.Minute, -2 * time.Minute, false},
		"past the next tick, and the first run":     {3 * time.Minute, 0, -2 * time.Minute, true},
		"before the next tick, and the first run":   {3 * time.Hour, 0, time.Minute, false},
		"before the next tick, and unusual":         {5 * time.Minute, time.Minute, time.Hour, false},
		"before the next tick, and unusually long":  {11 * time.Minute, time.Minute, time.Hour, true},
		"without a next tick, and unusually long":   {11 * time.Minute, time.Minute, 0, true},
		"without a next tick, and without a length": {11 * time.Hour, 0, 0, false},
	} {
		o := job.Outcome{State: job.Running, Started: now.Add(-c.running), Book: job.Book{Took: c.usual}}
		if c.next != 0 {
			o.Next = now.Add(c.next)
		}
		if got := Hangs(o, now); got != c.want {
			t.Errorf("%s: hangs %t, want %t", what, got, c.want)
		}
		if o.State = job.Done; Hangs(o, now) {
			t.Errorf("%s: a run that has ended hangs", what)
		}
	}
}
