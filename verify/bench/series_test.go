package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

// counted returns readings of a counter at these instants (ms), with these counts between them.
func counted(at []int, counts ...int) (list []point) {
	sum := 1000
	for i, t := range at {
		if i > 0 {
			sum += counts[i-1]
		}
		list = append(list, point{time.Duration(t) * ms, sum})
	}
	return list
}

func TestBucketsBeginAndEndAtReadings(t *testing.T) {
	readings := counted([]int{1000, 1098, 1203, 1301, 1400, 1502}, 20, 21, 22, 23, 24)
	want := []stretch{
		{1000 * ms, 1098 * ms, 20}, {1098 * ms, 1203 * ms, 21}, {1203 * ms, 1301 * ms, 22}, {1301 * ms, 1400 * ms, 23}, {1400 * ms, 1502 * ms, 24},
	}
	if got := buckets(readings, 100*ms, 100*ms); !slices.Equal(got, want) {
		t.Errorf("fine: %v, want %v", got, want)
	}
	if got, want := buckets(readings, 200*ms, 100*ms), []stretch{{1000 * ms, 1203 * ms, 41}, {1203 * ms, 1400 * ms, 45}}; !slices.Equal(got, want) {
		t.Errorf("coarse: %v, want %v", got, want)
	}
	if buckets(nil, 100*ms, 100*ms) != nil || buckets(readings[:1], 100*ms, 100*ms) != nil {
		t.Error("a bucket without an end")
	}
}

// After a reading that is 80 ms late, a stretch of 20 ms would be left, in which three calls look like a burst. There
// must be no such stretch, and no call may be lost or counted twice.
func TestALateReadingMakesNoBurst(t *testing.T) {
	readings := counted([]int{0, 100, 280, 300, 400, 500}, 10, 18, 3, 9, 10)
	got := buckets(readings, 100*ms, 100*ms)
	sum := 0
	for _, b := range got {
		sum += b.count
		if b.to-b.from < 50*ms {
			t.Errorf("%v is too short to say anything", b)
		}
	}
	if sum != 50 {
		t.Errorf("%d calls in %v, want 50", sum, got)
	}
	if peak := peakRate(got); peak > 101 {
		t.Errorf("peak %v per second, want about 100", peak)
	}
}

func TestABurstIsSeenWhereItIs(t *testing.T) {
	var at, counts []int
	for i := range 601 { // a minute: 20 calls per 100 ms, and 200 more each 3 s
		at = append(at, 100*i)
		n := 20
		if i%30 == 15 {
			n += 200
		}
		counts = append(counts, n)
	}
	var renewals []time.Duration
	for i := range 20 {
		renewals = append(renewals, time.Duration(3000*i+1510)*ms)
	}
	list := buckets(counted(at, counts...), 100*ms, 100*ms)
	near, others := split(list, renewals, 300*ms)
	if len(list) != 600 || len(near) != 20*4 || len(others) != 600-20*4 {
		t.Fatalf("%d buckets, %d near, %d others", len(list), len(near), len(others))
	}
	if got, want := meanRate(near)/meanRate(others), (20.0*4+200)/4/20; math.Abs(got-want) > 1e-9 {
		t.Errorf("just after renewals %v times the calls, want %v", got, want)
	}
	if got := peakRate(list); got != 2200 {
		t.Errorf("peak %v", got)
	}
	if c := chance(len(list), 20); c < 1.5 || c > 2 {
		t.Errorf("chance makes %v of the mean", c)
	}
}

// A holder that never renewed caused no burst. The figure then has no value, and does not meet its demand.
func TestWithoutRenewalsNothingIsSaidAboutThem(t *testing.T) {
	var readings []reading
	for i := range 20 {
		readings = append(readings, reading{at: time.Duration(100*i) * ms, tally: tally{Calls: map[string]int{"evalsha": 10 * i}}})
	}
	holder := outcome{Records: []record{{Token: 1, Had: 0, Gave: 2000 * ms}}}
	waiter := outcome{Records: []record{{Token: 2, Had: 2500 * ms, Gave: 2500 * ms}}}
	e := newEndured([]outcome{holder, waiter, {}}, [][]reading{readings, readings})
	burst := demand{bound: 1.5, atMost: true}
	if burst.met(spreadOf([]float64{e.Renewal})) {
		t.Errorf("no renewal: %v", e.Renewal)
	}
	if e.Waiters != 2 || e.Served != 1 || e.Drain != 500*ms || math.Abs(e.Mean-50) > 1e-9 || math.Abs(e.By["evalsha"]-50) > 1e-9 {
		t.Errorf("%+v", e)
	}
	holder.Renewed = []time.Duration{900 * ms}
	if e = newEndured([]outcome{holder, waiter, {}}, [][]reading{readings}); e.Renewed != 1 || !burst.met(spreadOf([]float64{e.Renewal})) {
		t.Errorf("a renewal without a burst: %+v", e)
	}
}
