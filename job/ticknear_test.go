package job_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/job"
)

type noTicks struct{}

func (noTicks) Next(time.Time) time.Time { return time.Time{} }
func (noTicks) String() string           { return "never" }

// TickNear uses the nodes' clocks, and says if there is no tick.
func TestTickNearTheNodesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		c := f.client(&atomic.Bool{})
		defer c.Close()
		s, err := job.ParseSchedule("every 1h")
		if err != nil {
			t.Fatal(err)
		}
		tick, err := job.TickNear(t.Context(), c, s)
		if want := f.now().Truncate(time.Hour); err != nil || !tick.Equal(want) {
			t.Errorf("the tick is %s, want %s: %v", tick, want, err)
		}
		if _, err := job.TickNear(t.Context(), c, noTicks{}); err == nil || !strings.Contains(err.Error(), "no tick of the schedule never has come") {
			t.Errorf("without ticks: %v", err)
		}
	})
}
