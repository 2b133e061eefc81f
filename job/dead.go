package job

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/verdict"
)

// sighting is what a process that waited for the lock knows about the last holder before it.
type sighting struct {
	host string    // the holder, as [Outcome.Host]; "": there was no holder, or it cannot tell that its holder died
	ends time.Time // the end of the holder's lease, by this process's clock
}

// see notes the holder that a failed attempt met. It ignores an outage, because the holder may have died before it.
func (s *sighting) see(refused error) {
	var held *holdfast.HeldError
	if !errors.As(refused, &held) {
		return
	}
	h := held.Holder()
	have := 0
	for _, n := range held.Nodes {
		if n.Reason == verdict.ReasonHeld && n.Owner == h.Owner {
			have++
		}
	}
	switch {
	case h.Owner == "", have == 0, have <= len(held.Nodes)/2 && s.host != "": // a claim, or votes that split after the end of the lease
	case h.Foreign, h.Left, h.Shared, held.ExpiresIn < 0:
		*s = sighting{}
	default:
		*s = sighting{host: h.String(), ends: time.Now().Add(held.ExpiresIn)}
	}
}

// dead is a holder that died: the nodes ended its lease. So nobody could take a tick in the last TTL of that lease.
type dead struct {
	host  string
	alive time.Time // the start of that TTL, by the nodes' clocks: the holder was alive then
	until time.Time // the end of its lease
}

// late is how long after the end of a dead holder's lease the next holder may come: it may have to wait for the claims
// of waiters that died, too. If the next holder comes later, an outage kept the lock, or the process was stopped.
const late = patience

// died returns the dead holder that s saw, or nil if the holder may have released the lock. The lock came at now by
// the nodes' clocks, and ttl is its TTL.
func (s sighting) died(now time.Time, ttl time.Duration) *dead {
	age := time.Since(s.ends)
	// The clocks of nodes differ by a Window, and a TTL has at least eight of these.
	if s.host == "" || age < -ttl/8 || age > late {
		return nil
	}
	until := now.Add(-age)
	return &dead{host: s.host, alive: until.Add(-ttl), until: until}
}

// untaken returns the decision about the tick that d.host would have taken, or that came first while nobody knew that
// it was dead. Grace does not count for this tick, because a process was there in time. untaken returns a decision
// without a run if there is no such tick: for example, the holder died in its run.
func (t *task) untaken(d *dead, last *Outcome, since, now time.Time) decision {
	from := d.alive
	if last != nil {
		if !last.final() && last.Host == d.host {
			return decision{}
		}
		for _, at := range []time.Time{last.Tick, last.Started.Add(last.Took)} { // a run had the lock until then
			if at.After(from) {
				from = at
			}
		}
	} else if since.After(from) {
		from = since
	}
	if found := t.due(last, since, from); found.run {
		return found
	}
	if tick := t.schedule.Next(from); !tick.IsZero() && !tick.After(now) && !tick.After(d.until) {
		return t.due(last, since, tick)
	}
	return decision{}
}
