package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"
)

var busyFor = flag.Duration("holdfast.busyfor", 0, "how long a process with 200 busy goroutines holds 200 leases, with each driver; 0: a sample")

// A process whose goroutines compute all the time keeps its leases on healthy nodes beside it, with the default TTL
// and timeouts. In the sample, only so many of the goroutines compute that the others wait for about 500 ms. So it has the
// same delays on a machine with other work. That is twice the window, and the node timeout.
func TestABusyProcessKeepsItsLeases(t *testing.T) {
	busy, leases, long, steady := 200, 50, 12*time.Second, 500*time.Millisecond // longer than the TTL, so each lease is renewed
	which := drivers[:1]
	if *busyFor > 0 {
		busy, leases, long, steady, which = 200, 200, *busyFor, 0, drivers
	}
	for _, d := range which {
		s := newSet(t, 3)
		p := s.process([]string{"GOMAXPROCS=2"}, append([]string{
			"busyholder", "-ordinary", "-driver", d.name, "-locks", fmt.Sprint(leases), "-busy", fmt.Sprint(busy), "-steady", steady.String(),
		}, s.urls...)...)
		p.until(time.Minute, "held")
		p.tell()
		time.Sleep(long)
		p.tell()
		var beliefs []belief
		if err := json.Unmarshal([]byte(p.until(2*time.Minute, "believed")), &beliefs); err != nil {
			t.Fatal(err)
		}
		p.stop()
		lost, why := 0, ""
		for _, b := range beliefs {
			if b.Cause != "" {
				lost, why = lost+1, b.Cause
			}
		}
		delay, _, _ := p.heard("delay")
		ns, _ := strconv.ParseInt(delay, 10, 64)
		t.Logf("%s, %d busy goroutines, %s: %d leases, %d lost; a goroutine waited for a processor for up to %s", d.name, busy, long, len(beliefs), lost, time.Duration(ns).Round(time.Millisecond))
		if lost > 0 {
			t.Errorf("%s: lost %d of %d leases; the last one: %s", d.name, lost, len(beliefs), why)
		}
	}
}
