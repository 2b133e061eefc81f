package main

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func lastRun(t *testing.T) Measured {
	t.Helper()
	m, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Checks) < 25 {
		t.Fatalf("measured.json has %d checks; run: make capacity WRITE=1", len(m.Checks))
	}
	return m
}

func TestTheModelAgreesWithTheStoredRuns(t *testing.T) {
	m := lastRun(t)
	for _, c := range m.Checks {
		if c.bad(m.Constants) {
			t.Errorf("%s, %s: the model is off by %+.0f %%", c.What, c.Figure, 100*c.off(m.Constants))
		}
	}
}

// A wrong cost contradicts a stored run: one that is compared roughly and is ten times as high as measured, and any
// other one that is three times as high. A few costs do not. They are so small that twice as much changes no limit on
// the page by more than a fifth.
func TestAWrongCostIsFound(t *testing.T) {
	m := lastRun(t)
	coarse := regexp.MustCompile(`^Server|^MemoryWaiter$|^Client(Cycle|Renewal|Ask|Handoff|Wake|Idle|Watch|Answer|Listed)`)
	wrong := m.Constants
	var minor []string
	wrong.each(func(name string, value *float64) {
		right := *value
		if *value *= 3; coarse.MatchString(name) {
			*value *= 10.0 / 3
		}
		if !slices.ContainsFunc(m.Checks, func(c Check) bool { return c.bad(wrong) }) {
			minor = append(minor, name)
			if *value = 2 * right; worst(m.Constants, wrong) > 0.2 {
				t.Errorf("no run contradicts a wrong %s, and twice %s changes a figure of the page by %.0f %%", name, number(right), 100*worst(m.Constants, wrong))
			}
		}
		*value = right
	})
	if len(minor) > 6 {
		t.Errorf("no run contradicts these costs if they are wrong: %v", minor)
	}
}

// worst returns the largest relative difference of two models in the limits on the page.
func worst(a, b Constants) (off float64) {
	for _, shards := range pages {
		l := example
		l.Shards = shards
		other := usual.shares(b.Cost(l))
		for i, s := range usual.shares(a.Cost(l)) {
			off = max(off, math.Abs(other[i].part/s.part-1))
		}
	}
	return off
}

// The page is the one of the stored measurements.
func TestThePageIsThatOfTheMeasurements(t *testing.T) {
	page, err := os.ReadFile("../../docs/results/capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != lastRun(t).page() {
		t.Error("docs/results/capacity.md is old; run: go run ./verify/capacity -page docs/results/capacity.md")
	}
}

// simple has round costs, so that the tests of the model need no measurement.
var simple = Constants{
	ServerCycle: 20, ServerRenewal: 10, ServerAsk: 30, ServerHandoff: 50, ServerBusOut: 2, ServerBusIn: 3,
	ServerWatch: 100, ServerNodes: 50, ServerNodesPer: 1, ServerAdmit: 300,
	MemorySlot: 1000, MemoryRecord: 200, MemoryName: 100, MemoryWaiter: 200, MemoryLink: 20_000,
	Rounds: 4, Asks: 1, Watches: 3, CycleCalls: 2, HandoffCalls: 3, LinksPerShard: 2,
	ClientCycle: 20, ClientRenewal: 10, ClientAsk: 80, ClientWatch: 500, ClientAnswer: 100,
	ClientShard: 300_000, ClientLease: 1000,
}

func TestShardsShareTheWorkOnNames(t *testing.T) {
	l := Load{Clients: 1, TTL: 10 * time.Second, Names: 1e5, Cycles: 1e4, Waiters: 1e4}
	cost := func(shards int) float64 {
		only := simple
		only.ServerWatch, only.Rounds, only.MemoryLink = 0, 0, 0
		l.Shards = shards
		return only.Cost(l).ShardCPU
	}
	if one, ten := cost(1), cost(10); math.Abs(one/ten-10) > 1e-9 {
		t.Errorf("one shard uses %v, and each of ten %v", one, ten)
	}
}

// Every server hears of every hand-off, so more shards carry hardly more of them.
func TestHandOffsDoNotGrowWithTheShards(t *testing.T) {
	l := Load{Clients: 1, TTL: 10 * time.Second}
	roomy := usual
	roomy.ClientCPU, roomy.CPU = math.Inf(1), 0.7
	carried := func(shards int) float64 {
		l.Shards = shards
		most, _ := roomy.carries(simple, l, kinds[3])
		return most
	}
	if kinds[3].name != "hand-offs a second" {
		t.Fatal("the order of kinds has changed")
	}
	if few, many := carried(100), carried(1000); many > 1.5*few {
		t.Errorf("100 shards carry %v hand-offs, and 1000 carry %v", few, many)
	}
}

// A client that does nothing costs every shard the same, however many there are.
func TestAnIdleClientCostsEachShardTheSame(t *testing.T) {
	cost := func(shards, clients int) float64 {
		return simple.Cost(Load{Shards: shards, Clients: clients, TTL: 10 * time.Second}).ShardCPU
	}
	if few, many := cost(30, 1000), cost(300, 1000); few != many || few < 900*cost(30, 1) {
		t.Errorf("with 1000 clients a shard uses %v of 30, and %v of 300; with one client %v", few, many, cost(30, 1))
	}
}

func TestRenewalsFollowTheValidity(t *testing.T) {
	// The validity of 10 s is 8.898 s: see holdfast.Config.TTL.
	if got := (Load{Names: 2966, TTL: 10 * time.Second}).renewals(); math.Abs(got-1000) > 0.1 {
		t.Errorf("2966 leases with a TTL of 10 s have %v renewals a second; want 1000", got)
	}
}

func TestTheLimitIsFoundThatComesFirst(t *testing.T) {
	l := Load{Shards: 1, Clients: 1, TTL: 10 * time.Second}
	most, limit := usual.carries(simple, l, kinds[2]) // cycles: 20 µs each
	if want := (0.7e6 - 100 - 4*51) / 20; limit != "CPU of a shard" || math.Abs(most/want-1) > 0.001 {
		t.Errorf("%v cycles, %s; want %v", most, limit, want)
	}
	small := usual
	small.Memory = 20e6
	if most, limit = small.carries(simple, l, kinds[0]); limit != "memory of a shard" {
		t.Errorf("%v leases, %s", most, limit)
	}
	l.Clients = 100_000
	if most, limit = usual.carries(simple, l, kinds[0]); most != 0 {
		t.Errorf("beside too many clients there is room for %v leases (%s)", most, limit)
	}
}

func TestCurvesGoThroughTheirPoints(t *testing.T) {
	if a, b, c := curve([3]float64{1, 2, 5}, [3]float64{6, 11, 38}); a != 3 || b != 2 || c != 1 {
		t.Errorf("%v + %v·x + %v·x²; want 3, 2, 1", a, b, c)
	}
	if a, b := line([2]float64{1, 3}, [2]float64{5, 9}); a != 3 || b != 2 {
		t.Errorf("%v + %v·x; want 3, 2", a, b)
	}
}

func TestNumbersHaveThreeDigitsThatMatter(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.0123: "0.012", 9.96: "10", 12.4: "12", 999: "999", 1234: "1,230", 1234567: "1,230,000",
	} {
		if got := number(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"-shards 3,x": "-shards", "-shards 0": "-shards", "-clients 0": "-clients", "-ttl 1s": "-ttl",
		"-names -1": "-names", "x": "argument",
	} {
		if err := run(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", args, err, want)
		}
	}
}

// A client that sleeps between its questions wakes for each. A busy one wakes no more often with more waiters.
func TestABusyClientWakesNoMoreOften(t *testing.T) {
	waking := simple
	waking.ClientWake, waking.ClientWakes = 200, 500
	wakes := func(waiters float64) float64 {
		l := Load{Shards: 1, Clients: 1, TTL: 10 * time.Second, Waiters: waiters}
		return (waking.Cost(l).ClientCPU - simple.Cost(l).ClientCPU) * 1e6 / 200
	}
	for waiters, want := range map[float64]float64{0: 0, 100: 100, 500: 500, 5000: 500} {
		if got := wakes(waiters); math.Abs(got-want) > 1e-6 {
			t.Errorf("with %v waiters it wakes %v times a second; want %v", waiters, got, want)
		}
	}
}

// The clients of a process share what the process needs.
func TestClientsShareTheirProcess(t *testing.T) {
	only := Constants{ClientProcess: 1000, ClientIdle: 100}
	for together, want := range map[int]float64{0: 1100e-6, 1: 1100e-6, 10: 200e-6} {
		l := Load{Shards: 1, Clients: 100, Together: together, TTL: 10 * time.Second}
		if got := only.Cost(l).ClientCPU; math.Abs(got-want) > 1e-12 {
			t.Errorf("%d clients in a process use %v each; want %v", together, got, want)
		}
	}
}
