package renewal

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// A late yes may come from a node whose clock is ahead, so its excess is subtracted from the deadline. The majority
// with the smallest excesses counts, also if one of its answers comes after an earlier majority.
func TestTheDeadlineOfALateRenewal(t *testing.T) {
	const soon = 20 * time.Millisecond
	for _, c := range []struct {
		says []string
		less time.Duration // the excess that counts
	}{
		{[]string{"E", "E", "E+900ms"}, 0},
		{[]string{"E+500ms", "E+900ms", "E"}, 500 * time.Millisecond},
		{[]string{"E+900ms", "E+500ms", "E+300ms"}, 500 * time.Millisecond},
		{[]string{"E+500ms", "E+300ms", "E+900ms"}, 500 * time.Millisecond},
		{[]string{"E+900ms", "R+500ms", "E+300ms"}, 500 * time.Millisecond},
	} {
		voters(t, c.says, []time.Duration{0, 0, soon}, func(e *Lease) {
			time.Sleep(2 * time.Second)
			full := quorum.Deadline(e.keeper.fan.Now(), 10*time.Second, e.keeper.fan.Set().Window)
			if err := e.Renew(context.Background()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * soon)
			if less := full.Sub(e.Deadline()); less != c.less {
				t.Errorf("%v: the deadline is earlier by %s; want %s", c.says, less, c.less)
			}
		})
	}
}

// A renewal may wait in the client for a node that does not answer. It is not sent after the end of its lease, because
// the release covers only the stamps that were drawn before it.
func TestNoStampIsDrawnForALeaseThatHasEnded(t *testing.T) {
	suspended(t, time.Minute, func(e *Lease, _ *mute, _ func(time.Duration)) {
		r := &renewal{lease: e, fan: e.grant.Fan, ttl: time.Minute, owner: e.Owner(), votes: quorum.NewRenewal(1, 0)}
		if _, ok := r.draw(); !ok {
			t.Error("no stamp for a lease that is held")
		}
		highest := e.highest
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = e.Release(ctx, nil)
		if _, ok := r.draw(); ok || e.highest != highest {
			t.Error("a stamp was drawn after the release")
		}
	})
}

// A renewal waits for its answers as long as its lease lasts, and not only for the node timeout.
func TestARenewalWaitsForNodesThatAreSlow(t *testing.T) {
	const answers = 5200 * time.Millisecond // the node timeout is 5 s, and the first renewal is sent after 3 s
	says, after := []string{"E", "E", "E"}, []time.Duration{answers, answers, answers}
	voters(t, says, after, func(e *Lease) {
		time.Sleep(time.Minute)
		if end := e.End(); end != nil {
			t.Errorf("%v, although each node answers before the deadline", end)
		}
	})
}
