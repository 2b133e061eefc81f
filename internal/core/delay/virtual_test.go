package delay

import (
	"testing"
	"testing/synctest"
	"time"
)

// A measurement that runs outside of a bubble of testing/synctest has nothing to do with the time in it, nor the reverse.
func TestVirtualTimeHasNoDelay(t *testing.T) {
	note(now(), int64(time.Minute))
	defer func() { worst.Store(0); until.Store(0) }()
	last := ended.Load()
	synctest.Test(t, func(t *testing.T) {
		if !began.CompareAndSwap(0, 1) {
			t.Skip("a measurement runs")
		}
		d := Recent()
		began.Store(0)
		Suspect()
		synctest.Wait()
		if d != 0 {
			t.Errorf("the delay in virtual time is %s", d)
		}
	})
	if year := int64(365 * 24 * time.Hour); ended.Load() > last+year || until.Load() > now()+year {
		t.Error("virtual time has changed when measurements count")
	}
}
