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
// and timeouts. In the sample, only so many of the goroutines compute that the others wait for about 1.5 s: six
// windows, and three node timeouts. So the delays are the same on a machine with other work. If the machine itself adds
// as much, the sample proves nothing, and the test takes another one.
func TestABusyProcessKeepsItsLeases(t *testing.T) {
	if testing.Short() && *busyFor == 0 {
		t.Skip("it keeps all processors busy, beside which other tests are late; make verify runs it")
	}
	if *busyFor > 0 {
		for _, d := range drivers {
			if lost, _, why := keepBusy(t, d, 200, *busyFor, 0); lost > 0 {
				t.Errorf("%s: lost %d leases; the first one: %s", d.name, lost, why)
			}
		}
		return
	}
	const steady, samples = 1500 * time.Millisecond, 3
	for i := range samples {
		lost, delay, why := keepBusy(t, viaRueidis, 50, 12*time.Second, steady) // longer than the TTL, so each lease is renewed
		if lost == 0 {
			return
		}
		if delay < 2*steady || i == samples-1 {
			t.Fatalf("lost %d leases; the first one: %s", lost, why)
		}
	}
}

// keepBusy lets a process with 200 busy goroutines hold leases. It returns the number of the lost ones, the cause of
// one loss, and the longest time for which a goroutine of the process waited for a processor.
func keepBusy(t *testing.T, d driver, leases int, long, steady time.Duration) (lost int, delay time.Duration, why string) {
	t.Helper()
	s := newSet(t, 3)
	p := s.process([]string{"GOMAXPROCS=2"}, append([]string{
		"busyholder", "-ordinary", "-driver", d.name, "-locks", fmt.Sprint(leases), "-busy=200", "-steady", steady.String(),
	}, s.urls...)...)
	p.until(time.Minute, "held")
	p.tell()
	time.Sleep(long)
	p.tell()
	var beliefs []belief
	if err := json.Unmarshal([]byte(p.until(2*time.Minute, "believed")), &beliefs); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	for _, b := range beliefs {
		if b.Cause != "" {
			if lost++; lost == 1 {
				why = b.Cause
			}
		}
	}
	text, _, _ := p.heard("delay")
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(beliefs) != leases {
		t.Fatalf("the process said delay %q and told of %d leases", text, len(beliefs))
	}
	delay = time.Duration(ns)
	t.Logf("%s, %s: %d leases, %d lost, longest delay %s", d.name, long, leases, lost, delay.Round(time.Millisecond))
	return lost, delay, why
}
