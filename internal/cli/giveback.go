package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/holdfast-go/holdfast"
)

// giveBack ends the lease, but keeps the name taken until an instant (--at-least).
// code is the command's own exit code.
//
// The nodes can keep a name for MaxTTL without us. What is beyond, we stay for.
func (a *app) giveBack(lease *holdfast.Lease, until time.Time, maxTTL time.Duration, sig <-chan os.Signal, code int) error {
	if rest := time.Until(until); rest > maxTTL {
		a.note("keeping %q for another %s (--at-least)", lease.Name(), forPeople(rest))
		stay := time.NewTimer(rest - maxTTL)
		defer stay.Stop()
		select {
		case <-stay.C:
		case <-lease.Context().Done():
			a.say("lock %q lost", lease.Name())
			return exit(exitLost)
		case s := <-sig:
			until = time.Now().Add(maxTTL)
			a.say("%s: the nodes keep %q until %s, less than --at-least asks for", s, lease.Name(), until.Format(time.TimeOnly))
			code = signalled(s).code
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kept := time.Until(until) > 0
	err := lease.UnlockAt(ctx, until)
	switch {
	case err == nil:
	case errors.Is(err, holdfast.ErrLost):
		a.say("%s", trimmed(err))
		return exit(exitLost)
	case kept:
		a.say("%s; it may be free before --at-least is over", trimmed(err))
		return exit(exitLost)
	default:
		// The command did its work under the lock; that the name is not free at once is
		// not its failure.
		a.say("%s; the lock ends with its TTL", trimmed(err))
	}
	return exit(code)
}
