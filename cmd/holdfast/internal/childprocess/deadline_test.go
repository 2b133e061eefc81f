//go:build unix

package childprocess

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// A lease that was lost before its deadline has also ended for the watchdog.
func TestTheDeadlineOfALostLeaseIsOver(t *testing.T) {
	t.Parallel()
	at := note().deadline(func() time.Time { return time.Time{} })
	w := watch{grace: time.Second, now: clock.Host, group: 4711, deadline: at, armed: true}
	if left, _ := w.left(); left > 0 {
		t.Errorf("a lease that was lost is taken for one that lasts another %s", left)
	}
}
