//go:build linux

package chaos

import (
	"testing"
	"time"
)

func TestReportsNameEachBrokenPromise(t *testing.T) {
	good := func() *Report {
		return &Report{Plan: Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond}.withDefaults(), LatestNotice: 821 * time.Millisecond, Grants: 1, Faults: map[string]int{aliased: 1}, MisfitsRefused: map[string]int{aliased: 1}, MisfitsGranted: map[string]int{}}
	}
	if list := good().Broken(); len(list) > 0 {
		t.Fatalf("a good report: %q", list)
	}
	for what, spoil := range map[string]func(*Report){
		"no lease":           func(r *Report) { r.Grants = 0 },
		"overlap":            func(r *Report) { r.Overlaps = 1 },
		"inversion":          func(r *Report) { r.Inversions = 1 },
		"guarded write":      func(r *Report) { r.Guarded.Lost = 1 },
		"counter write":      func(r *Report) { r.Counter.Lost = 1 },
		"starvation":         func(r *Report) { r.LongestWait = time.Hour },
		"no recovery":        func(r *Report) { r.Recovery = -1 },
		"slow recovery":      func(r *Report) { r.Slowest = r.bound() + 1 },
		"ghost":              func(r *Report) { r.Ghosts = []string{"x"} },
		"late notice":        func(r *Report) { r.LatestNotice = r.Plan.margin() },
		"not linearizable":   func(r *Report) { r.Illegal = 1 },
		"not decided":        func(r *Report) { r.Unknown = 1 },
		"misfit not refused": func(r *Report) { r.MisfitsRefused = nil },
		"misfit granted":     func(r *Report) { r.MisfitsGranted[aliased] = 1 },
	} {
		r := good()
		if spoil(r); len(r.Broken()) != 1 {
			t.Errorf("%s: %q", what, r.Broken())
		}
	}
}
