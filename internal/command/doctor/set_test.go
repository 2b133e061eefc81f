package doctor

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/check/redistest"
)

// The fix for a quarantine is to wait, and never for less than the state says.
func TestTheFixOfAQuarantineIsNotShorterThanItsState(t *testing.T) {
	e := &exam{}
	e.votes([]holdfast.NodeAnswer{{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: 7400 * time.Millisecond}})
	for _, f := range e.findings {
		if f.Check == "votes" && f.Node == "a" && (!strings.Contains(f.State, "for another 7.4s") || !strings.HasPrefix(f.Fix, "wait 8s;")) {
			t.Errorf("%s; fix: %s", f.State, f.Fix)
		}
	}
}

// The nodes' clocks say how long a lock is held. This machine's clock may be hours away from them.
func TestTheNodesClocksSayHowLongALockIsHeld(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1, redistest.WithClock())
	w.servers[0].Step(-2 * time.Hour)
	if _, err := w.vote().Mutex("x").Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := w.examine("stuck"); len(all) != 1 || all[0].Severity != OK {
		t.Errorf("with OlderThan 1h: %+v", all)
	}
}

// If the nodes cannot be read, the checks of names say why in few words, and the fix says what to do.
func TestUnreadableNamesHaveAFix(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.servers[0].Kill()
	w.servers[1].Kill()
	for _, f := range w.examine("foreign", "stuck") {
		if f.State != "not known: too few nodes could be read: connection refused" || !strings.HasPrefix(f.Fix, "mend what the checks answer and votes say") {
			t.Errorf("%+v", f)
		}
	}
}

// A leader leads for as long as it can, so its lock is not stuck.
func TestALeaderIsNotStuck(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.config.OlderThan = time.Microsecond
	ctx, stop := context.WithCancel(t.Context())
	led := make(chan struct{})
	var run sync.WaitGroup
	run.Go(func() {
		_ = w.vote().Election("leader").Run(ctx, func(ctx context.Context, term holdfast.Term) error {
			if err := term.Publish(ctx, []byte("web-1")); err != nil {
				t.Error(err)
			}
			close(led)
			<-ctx.Done()
			return nil
		})
	})
	<-led
	if all := w.examine("stuck"); len(all) != 1 || all[0].Severity != OK {
		t.Errorf("a leader is stuck: %+v", all)
	}
	stop()
	run.Wait()
}
