package holding

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

const (
	ttl = 30 * time.Second
	nap = 21 * time.Second // a suspension that is longer than a third of the TTL, and shorter than the rest
)

var (
	errOver   = errors.New("over")
	errSilent = errors.New("no server answers")
)

// bench is a holding of ttl in a bubble, on a host that a test suspends.
type bench struct {
	*Holding
	mono     clock.Clock
	slept    atomic.Int64
	renewals atomic.Int32
	silent   atomic.Bool // renewals fail
}

// suspended runs f in a bubble with a new holding. It ends the holding after f.
func suspended(t *testing.T, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{mono: clock.Monotonic()}
		b.Holding = New(Rules{
			Now:     b.now,
			Go:      func(f func()) { go f() },
			First:   ttl / 3,
			Renew:   b.renew,
			Expired: func() error { b.Finish(errOver); return errOver },
			Ended:   func(error) {},
		}, ttl, b.now().Add(Validity(ttl)))
		b.Start()
		synctest.Wait()
		f(b)
		b.Finish(errOver)
	})
}

func (b *bench) now() clock.Instant { return b.mono().Add(time.Duration(b.slept.Load())) }

// doze simulates a suspension of the host: the clock of the holding continues, and no timer runs.
func (b *bench) doze(d time.Duration) { b.slept.Add(int64(d)) }

func (b *bench) renew() error {
	b.renewals.Add(1)
	if b.silent.Load() {
		return errSilent
	}
	return b.Renewed(b.now().Add(Validity(ttl)))
}

// The host sleeps until after the next renewal and before the deadline. Timers stop during that time, so the timer of
// the renewal would fire after the deadline.
func TestAHoldingIsRenewedSoonAfterASuspension(t *testing.T) {
	suspended(t, func(b *bench) {
		time.Sleep(ttl/3 + 100*time.Millisecond)
		b.doze(nap)
		if left := b.Left(); left <= look || left > 9*time.Second {
			t.Fatalf("%s are left after the suspension; want some seconds", left)
		}
		time.Sleep(look)
		synctest.Wait()
		if n := b.renewals.Load(); n != 2 {
			t.Errorf("%d renewals a second after the suspension; want 2", n)
		}
		time.Sleep(9 * time.Second)
		if b.End() != nil {
			t.Errorf("the holding ended with %v although each renewal succeeds", b.End())
		}
	})
}

// A renewal that fails after a suspension is repeated before the deadline.
func TestARenewalAfterASuspensionIsRepeated(t *testing.T) {
	suspended(t, func(b *bench) {
		b.silent.Store(true)
		b.doze(nap)
		time.Sleep(2 * look)
		b.silent.Store(false)
		time.Sleep(2 * look)
		if n := b.renewals.Load(); n < 2 || b.End() != nil {
			t.Errorf("%d renewals, and the holding ended with %v; want two at least, and no end", n, b.End())
		}
	})
}

func TestAHoldingThatRanOutDuringASuspensionEndsWhenTheHostWakes(t *testing.T) {
	suspended(t, func(b *bench) {
		time.Sleep(time.Second)
		b.doze(ttl)
		time.Sleep(look)
		synctest.Wait()
		if !errors.Is(b.End(), errOver) {
			t.Errorf("the holding ended with %v after its deadline; want %v", b.End(), errOver)
		}
	})
}

// The check of each second does not renew a holding early.
func TestAHoldingIsRenewedOncePerThirdOfItsTTL(t *testing.T) {
	suspended(t, func(b *bench) {
		const thirds = 360
		time.Sleep(thirds*ttl/3 + ttl/6)
		if n := b.renewals.Load(); n != thirds || b.End() != nil {
			t.Errorf("%d renewals, and the holding ended with %v; want %d, and no end", n, b.End(), thirds)
		}
	})
}
