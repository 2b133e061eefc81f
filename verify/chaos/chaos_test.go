//go:build linux

package chaos

import (
	"context"
	"os"
	"testing"
	"time"
)

var flags = DeclareFlags()

func TestMain(m *testing.M) {
	BeClient(map[string]Open{"backwards": openBackwards, "beside": openBeside, "overtaking": openOvertaking, "lingering": openLingering})
	flags.Parse()
	os.Exit(m.Run())
}

// turns is the turn of a short run. A run has five servers and up to fifteen clients, and make test computes beside it.
// If they get too little processor time, nodes answer after their timeout. Then no client can get a lock.
var turns = make(chan struct{}, 1)

// turn waits until no other run is under way. Long runs come one after the other.
func turn(t *testing.T) {
	if *flags.For > 0 || *flags.Outside > 0 {
		return
	}
	t.Parallel()
	turns <- struct{}{}
	t.Cleanup(func() { <-turns })
}

// short returns a run for the usual tests: few clients, frequent faults.
func short(d time.Duration) Plan {
	return Plan{For: d, Clients: 8, Names: 3, Every: 700 * time.Millisecond}
}

// The lock runs under every fault that it promises to survive. Then it runs under faults outside of the assumptions. In
// that run the test only counts overlaps, but the data behind a token must be right.
func TestChaos(t *testing.T) {
	t.Parallel()
	t.Run("within", func(t *testing.T) {
		turn(t)
		p := short(9 * time.Second)
		if *flags.For > 0 {
			p = Plan{}
		}
		r := Run(t, flags.Apply(p))
		r.Publish(t, *flags.Report)
		r.Demand(t)
	})
	t.Run("kinds", func(t *testing.T) { // every kind of lock, for half of the time
		turn(t)
		p := short(8 * time.Second)
		if *flags.For > 0 {
			p = Plan{}
		}
		p = flags.Apply(p)
		p.Locker, p.Names = "kinds", 6
		if *flags.For > 0 {
			p.For = *flags.For / 2
		}
		r := Run(t, p)
		r.Publish(t, *flags.Report)
		r.Demand(t)
	})
	if *flags.For > 0 {
		t.Run("busy", func(t *testing.T) { // one client is busy, for a quarter of the time; it takes the processors of all others
			p := flags.Apply(Plan{Busy: busyGoroutines})
			p.For = *flags.For / 4
			r := Run(t, p)
			r.Publish(t, *flags.Report)
			r.Demand(t)
		})
	}
	t.Run("outside", func(t *testing.T) {
		turn(t)
		p := short(8 * time.Second)
		if *flags.For > 0 || *flags.Outside > 0 {
			p = Plan{}
		}
		p = flags.Apply(p)
		switch {
		case *flags.Outside > 0:
			p.For, p.Verbose = *flags.Outside, true
		case *flags.For > 0:
			p.For = *flags.For / 4
		}
		p.Outside, p.Pause = true, 20
		if p.Keep == "" { // overlaps are expected, so most runs are not worth keeping
			p.Keep = t.TempDir()
		}
		if p.Kinds == nil {
			p.Kinds = outsideKinds
		}
		r := Run(t, p)
		r.Publish(t, *flags.Report)
		r.Tolerate(t)
	})
}

// The judges must find out an unsafe lock. Otherwise the runs above prove nothing.
func TestAnUnsafeLockIsFoundOut(t *testing.T) {
	t.Parallel()
	overlapping := func(r *Report) bool { return r.Overlaps > 0 }
	for name, c := range map[string]struct {
		plan  Plan
		found func(*Report) bool
	}{
		"one server without persistence": {Plan{Locker: "plain", Nodes: 1, Kinds: []string{"server killed, empty again", "FLUSHALL"}}, overlapping},
		// This is Holdfast with a quarantine that false vouchers cut short.
		"no quarantine":    {Plan{Kinds: []string{"FLUSHALL and a false voucher", "client frozen"}}, overlapping},
		"tokens backwards": {Plan{Locker: "backwards", Kinds: []string{"client killed"}}, func(r *Report) bool { return r.Inversions > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			turn(t)
			p, usual := c.plan, short(7*time.Second)
			p.For, p.Clients, p.Names, p.Every, p.Most, p.Keep = usual.For, usual.Clients, usual.Names, 300*time.Millisecond, true, t.TempDir()
			var r *Report
			for range 5 { // the judges may need several tries to see an overlap
				if r = Run(t, p); c.found(r) {
					break
				}
			}
			t.Log(r.Markdown())
			if !c.found(r) {
				t.Error("it was not found")
			}
			if r.Illegal == 0 {
				t.Error("the linearizability checker found nothing")
			}
		})
	}
}

// openBackwards opens Holdfast with tokens that become smaller.
func openBackwards(r Role) (Locker, error) {
	l, err := openHoldfast(r)
	return backwards{l}, err
}

type backwards struct{ Locker }

func (b backwards) Lock(ctx context.Context, name string) (Held, error) {
	h, err := b.Locker.Lock(ctx, name)
	return backwardsHeld{h}, err
}

type backwardsHeld struct{ Held }

func (h backwardsHeld) Token() int64 { return 1<<52 - h.Held.Token() }
