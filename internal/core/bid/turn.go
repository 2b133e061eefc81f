package bid

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Turn tells a waiter what to do after it was woken.
type Turn struct {
	Won     bool
	Lease   Lease    // the lease, if the bid is won
	Refusal *Refusal // the refusal of a round with all nodes; nil: none is known
	Pause   Pause    // the pause before the next question to all nodes
}

// Next returns the lease if the bid is won. Otherwise it returns the pause before the next question to all nodes. The
// pause is short while hand-offs come in. Otherwise it lasts until the end of the holder's lease, but not longer than
// the parameter every. retry is the pause of a waiter that gets no hand-off. Next looks at the bid only once for all of
// this: see [Machine.Outcome].
func (m *Machine) Next(now clock.Instant, retry, every time.Duration) (Turn, []Action) {
	m.start()
	if l, ok := m.take(now); ok {
		return Turn{Won: true, Lease: l}, m.out
	}
	was, stamped, soon := m.state, m.err == nil, false
	if was == failed {
		m.state = idle
		soon = m.whole && stamped && m.split(now)
	} else if was == idle {
		soon = m.part != 0 // the partial grant came after the round failed
	}
	switch {
	case was == open && !m.whole:
		return Turn{Pause: Pause{Most: Gather}}, m.out
	case was == idle && soon:
		return Turn{Pause: Pause{About: Gather}}, m.out
	case was == open, was == idle:
		return Turn{Pause: Pause{Most: every}}, m.out
	case was == failed && !m.whole && stamped:
		return Turn{Pause: Pause{About: SplitDelay}}, m.out
	}
	r := m.Refused(false)
	_, foreign, left := r.Holder()
	m.pauses++
	p := Pause{Most: every, Random: m.pauses == 2, Retry: retry, Left: left}
	p.Alone = foreign || r.Kind == Contended // the holder of a foreign lock sends no hand-off
	switch {
	case soon:
		p.About = Gather
	case m.part != 0:
		p.Part = PartEvery + max(now.Sub(m.halved), 0)/5
	}
	return Turn{Refusal: r, Pause: p}, m.out
}

// Outcome returns the lease, or the reason why there is no lease. The refusal is nil if the bid is won. cut says that
// the wait ended before the decision. Outcome looks at the bid only once for both results. With two looks the bid could
// be won in between, and the caller would give up the lock as one that came too late.
func (m *Machine) Outcome(now clock.Instant, cut bool) (Lease, *Refusal, []Action) {
	m.start()
	if l, ok := m.take(now); ok {
		return l, nil, m.out
	}
	return Lease{}, m.Refused(cut), nil
}
