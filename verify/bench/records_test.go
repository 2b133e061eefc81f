package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// Processes answer in any order, and each knows only its own leases. The tokens show which release an acquisition
// followed.
func TestHandoffsArePairedByTokenOverAllProcesses(t *testing.T) {
	got, err := pair([]outcome{
		{Records: []record{{Token: 50, Had: 90 * ms, Gave: 99 * ms}, {Token: 10, Had: 1 * ms, Gave: 5 * ms}}},
		{Records: []record{{Token: 20, Had: 7 * ms, Gave: 20 * ms}, {Token: 30, Had: 21 * ms, Gave: 40 * ms}}},
		{},
		{Records: []record{{Token: 40, Had: 70 * ms, Gave: 80 * ms}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []handoff{
		{at: 7 * ms, gap: 2 * ms},
		{at: 21 * ms, gap: 1 * ms, within: true},
		{at: 70 * ms, gap: 30 * ms},
		{at: 90 * ms, gap: 10 * ms},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// Tokens are µs since the epoch. Two tokens may differ by one, or by more than an int of 32 bits can hold.
func TestTokensAreOrderedWhateverTheirDistance(t *testing.T) {
	const now = int64(1_800_000_000_000_000)
	got, err := pair([]outcome{
		{Records: []record{{Token: now + 1, Had: 30 * ms, Gave: 31 * ms}, {Token: 1, Had: 0, Gave: 10 * ms}}},
		{Records: []record{{Token: now, Had: 20 * ms, Gave: 25 * ms}}},
	})
	if want := []handoff{{at: 20 * ms, gap: 10 * ms}, {at: 30 * ms, gap: 5 * ms}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestLeasesThatOverlapAreNotMeasured(t *testing.T) {
	_, err := pair([]outcome{
		{Records: []record{{Token: 1, Had: 1 * ms, Gave: 5 * ms}}},
		{Records: []record{{Token: 2, Had: 4 * ms, Gave: 9 * ms}}},
	})
	if err == nil || !strings.Contains(err.Error(), "lease 2 began 1ms before lease 1 was given back") {
		t.Errorf("two held it at once: %v", err)
	}
	_, err = pair([]outcome{{Records: []record{{Token: 7, Had: 1 * ms, Gave: 2 * ms}}}, {Records: []record{{Token: 7, Had: 3 * ms, Gave: 4 * ms}}}})
	if err == nil || !strings.Contains(err.Error(), "the token 7") {
		t.Errorf("two leases have one token: %v", err)
	}
}

// The calls of each node are divided by the hand-offs between its own two readings.
func TestCallsAreCountedBetweenTheReadingsOfEachNode(t *testing.T) {
	at := func(t time.Duration, evalsha, info, ping, ours int) reading {
		return reading{at: t, ours: ours, tally: tally{Calls: map[string]int{"evalsha": evalsha, "eval": 1, "info": info, "ping": ping, "get": 2 * evalsha}}}
	}
	var all []handoff
	for i := range 10 { // at 5, 15, … 95 ms; one of three is inside a process
		all = append(all, handoff{at: time.Duration(10*i+5) * ms, gap: time.Duration(i) * ms, within: i%3 == 0})
	}
	before := []reading{at(10*ms, 100, 1, 5, 5), at(20*ms, 200, 1, 5, 5)}
	after := []reading{at(80*ms, 121, 9, 30, 28), at(90*ms, 228, 9, 31, 29)}
	// Node 1 has 7 hand-offs (15…75), and 2 of them are inside a process. Node 2 has 7 (25…85), and also 2 inside.
	h, err := newHanded(all, before, after, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := (21.0 + 28.0) / 7 / 2; h.Calls != want {
		t.Errorf("with passes: %v script calls, want %v", h.Calls, want)
	}
	if want := 2.0 / 7; h.By["ping"] < want-1e-9 || h.By["ping"] > want+1e-9 {
		t.Errorf("%v PINGs that were not ours, want %v", h.By["ping"], want)
	}
	if h.All != 3*h.Calls {
		t.Errorf("all commands but PING: %v", h.All)
	}
	if _, there := h.By["info"]; there {
		t.Error("our own INFO is counted")
	}
	if h.Between != 5 || h.Within != 2 || h.Gap != 4000 || h.WithinGap != 3000 { // of two the median is the smaller one
		t.Errorf("%+v", h)
	}
	if h, err = newHanded(all, before, after, false); err != nil || h.Calls != (21.0+28.0)/5/2 {
		t.Errorf("between processes only: %v script calls, %v", h.Calls, err)
	}
	if _, err := newHanded(all[:1], before, after, true); err == nil {
		t.Error("a slice without hand-offs is a measurement")
	}
	if met := (demand{bound: 3, atMost: true}).met(spreadOf([]float64{handed{}.inPings()})); met {
		t.Error("a gap that was not measured meets a demand")
	}
}

func TestPingsInAGapAreThoseSentWhileNobodyHadTheLock(t *testing.T) {
	gaps := []handoff{{at: 10 * ms, gap: 3 * ms}, {at: 20 * ms, gap: 1 * ms}}
	var pongs []pong
	for _, at := range []time.Duration{6, 8, 10, 11, 18, 20, 21} {
		pongs = append(pongs, pong{at: at * ms})
	}
	if got, want := inGaps(pongs, gaps), []pong{{at: 8 * ms}, {at: 10 * ms}, {at: 20 * ms}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A recorder notes its times outside the calls, so that the gap contains both calls.
func TestARecorderNotesWhenLockReturnedAndUnlockWasCalled(t *testing.T) {
	f := &slowLocker{}
	r := &recorder{fenced: f}
	unlock, err := r.lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if len(r.records) != 1 || r.records[0].Token != 42 {
		t.Fatalf("%+v", r.records)
	}
	if n := r.records[0]; n.Had < f.granted || n.Gave > f.released || n.Gave < n.Had {
		t.Errorf("had %v, granted inside at %v; gave %v, released inside at %v", n.Had, f.granted, n.Gave, f.released)
	}
}

// slowLocker notes the times inside its calls.
type slowLocker struct{ granted, released time.Duration }

func (s *slowLocker) lock(context.Context, string) (func() error, error) { panic("not fenced") }
func (s *slowLocker) close()                                             {}
func (s *slowLocker) lease(context.Context, string) (lease, error) {
	s.granted = monotonic()
	return s, nil
}
func (s *slowLocker) Fence() int64        { return 42 }
func (s *slowLocker) Deadline() time.Time { return time.Time{} }
func (s *slowLocker) Unlock(context.Context) error {
	s.released = monotonic()
	return nil
}
