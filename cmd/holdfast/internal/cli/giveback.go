package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// giveBack ends the leases but keeps the names taken until an instant (--at-least).
//
// The nodes can keep a name for MaxTTL by themselves. For a longer time, holdfast must keep running and renew the
// lock. If a person ended the run, holdfast does not do this, because that person expects it to end.
func (a *app) giveBack(h *holding, until time.Time, maxTTL time.Duration, sig <-chan os.Signal, c *childprocess.Child) error {
	code := c.Exit().Code()
	leave := func(s os.Signal) {
		until = time.Now().Add(maxTTL)
		a.say("%s: the nodes keep %s until %s, less than --at-least asks for", s, quotedAll(h.names), toSecond(until))
	}
	switch rest, by := time.Until(until), c.EndedBy(); {
	case rest <= maxTTL:
	case by != 0:
		leave(by)
	default:
		a.note("keeping %s for another %s (--at-least)", quotedAll(h.names), forPeople(rest))
		stay := time.NewTimer(rest - maxTTL)
		defer stay.Stop()
		select {
		case <-stay.C:
		case <-h.Context().Done():
			a.say("%s lost", h.lost())
			return exit(exitLost)
		case s := <-sig:
			leave(s)
			code = signalled(s).code
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kept := time.Until(until) > 0
	err := h.UnlockAt(ctx, until)
	switch {
	case err == nil:
	case errors.Is(err, holdfast.ErrLost):
		return exit(exitLost) // the library has printed a warning with the reason
	case kept:
		a.say("%s; it may be free before --at-least is over", trimmed(err))
		return exit(exitLost)
	default:
		// The command has finished its work under the lock. Its run did not fail because the name becomes free a
		// little later.
		a.say("%s; the lock ends with its TTL", trimmed(err))
	}
	return exit(code)
}
