package holding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/ending"
)

// Bounds of a TTL.
const (
	LeastTTL = 100 * time.Millisecond
	MostTTL  = 24 * time.Hour
)

// CheckTTL returns an error that names the field, the value and the bound, or nil.
func CheckTTL(what string, ttl, least time.Duration) error {
	if ttl < least || ttl > MostTTL {
		return fmt.Errorf("%s is %s; it must be from %s to %s", what, ttl, least, MostTTL)
	}
	return nil
}

// Validity is the time for which a holder may rely on a lock. It counts from the moment just before the first request
// was sent. The margin is that of Redlock: a hundredth of the TTL for clocks that run at different speeds, and 2 ms
// for the resolution of timers and expiry. Package holdfast also subtracts windows, because it compares the clocks of
// nodes. Here a node only measures a duration, so no window is needed.
func Validity(ttl time.Duration) time.Duration { return ttl - ttl/100 - 2*time.Millisecond }

// Lease is a held lock for [Do].
type Lease interface {
	Context() context.Context
	Unlock(ctx context.Context) error
}

// Do runs fn under a lease, and unlocks, also after a panic. The context of fn ends with the lease and with ctx. end
// returns the reason of the lease's end, nil before. what begins the errors.
func Do(ctx context.Context, what string, l Lease, end func() error, fn func(ctx context.Context) error) (err error) {
	work, cancel := ending.Work(ctx, l.Context())
	defer cancel(nil)
	defer func() { // deferred, so that a panic in fn also releases the lock
		why := end()
		if unlock := l.Unlock(context.WithoutCancel(ctx)); why == nil && errors.Is(unlock, holdfast.ErrLost) {
			why = unlock
		}
		switch {
		case why == nil:
		case errors.Is(why, holdfast.ErrReleased) && !errors.Is(why, holdfast.ErrClosed): // fn has unlocked the lease itself
		case err == nil:
			err = fmt.Errorf("%s: %w", what, why)
		case !errors.Is(err, why):
			err = fmt.Errorf("%s: %w: %w", what, why, err)
		}
	}()
	return fn(work)
}
