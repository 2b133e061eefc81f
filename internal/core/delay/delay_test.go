package delay

import (
	"testing"
	"testing/synctest"
	"time"
)

// A measurement that runs outside of a bubble of testing/synctest has nothing to do with the time in it, nor the
// reverse.
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

// A process that waits while others have the processors is late, and does not compute.
func TestOnlyAProcessThatComputesCountsAsComputing(t *testing.T) {
	defer func() { began.Store(0); computing.Store(0) }()
	time.Sleep(10 * least) // the measurement cannot have begun before the process
	began.Store(now() - int64(10*least))
	spent.Store(processorTime())
	if Recent() < 10*least {
		t.Errorf("the delay of a measurement that runs for %s is %s", 10*least, Recent())
	}
	if Computing() {
		t.Error("a process that had no processor counts as computing")
	}
	for processorTime()-spent.Load() < int64(least) { // computes
	}
	if began.Store(now() - int64(least)); !Computing() {
		t.Error("a process that computed all the time does not count as computing")
	}
}
