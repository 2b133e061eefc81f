//go:build linux

package chaos

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// Not every error is a refusal: a client that the nodes must refuse may also have met dead nodes.
func TestOnlyWhatIsSaidOfAMisfitIsARefusal(t *testing.T) {
	const differs, twin, held, mute = verdict.ReasonMisconfigured, verdict.ReasonDuplicate, verdict.ReasonHeld, verdict.ReasonTimedOut
	const granted = verdict.ReasonGranted
	nodes := func(reasons ...verdict.Reason) (list []verdict.Answer) {
		for _, r := range reasons {
			list = append(list, verdict.Answer{Reason: r})
		}
		return list
	}
	for name, c := range map[string]struct {
		err  error
		want what
	}{
		"by all nodes":                     {&holdfast.UnavailableError{Nodes: nodes(differs, differs, differs)}, tried},
		"by a majority":                    {&holdfast.UnavailableError{Nodes: nodes(differs, mute, differs)}, tried},
		"by too few to matter":             {&holdfast.UnavailableError{Nodes: nodes(differs, mute, mute)}, unsure},
		"by none, all being mute":          {&holdfast.UnavailableError{Nodes: nodes(mute, mute, mute)}, unsure},
		"twins, of which enough are left":  {&holdfast.UnavailableError{Nodes: nodes(granted, twin, granted, twin, mute)}, unsure},
		"twins, of which too few are left": {&holdfast.UnavailableError{Nodes: nodes(granted, twin, granted, twin, twin)}, tried},
		"twins, where somebody has it":     {&holdfast.HeldError{Nodes: nodes(held, twin, held, twin, twin)}, tried},
		"somebody has it":                  {&holdfast.HeldError{Nodes: nodes(held, held, granted)}, unsure},
		"an error that is none of a node":  {errors.Join(holdfast.ErrClosed), unsure},
	} {
		if got := turnedAway(c.err); got != c.want {
			t.Errorf("refused %s: %q, want %q", name, got, c.want)
		}
	}
}

// A granted lock counts as granted, even if its release fails.
func TestALockThatAMisfitGotCountsWhateverItsUnlockSays(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	l, err := openHoldfast(Role{Nodes: []string{proxy.URL()}, TTL: 2 * time.Second, Window: 200 * time.Millisecond, note: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	intrude := l.(*holdfastLocker).intrude
	redistest.Eventually(t, patience, "a lock of a client that is in order", func() bool { return intrude(t.Context(), "x") == has })
	var calls atomic.Int32
	proxy.Treat(func(command []string) (how redistest.Treatment) {
		if command[0] == "EVALSHA" {
			if calls.Add(1) > 1 {
				how.Delay = time.Minute
			}
		}
		return how
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if got := intrude(ctx, "y"); got != has || calls.Load() < 2 {
		t.Errorf("a lock that was granted, of which the release gets lost, among %d calls: %q, want %q", calls.Load(), got, has)
	}
	proxy.Treat(nil)
}
