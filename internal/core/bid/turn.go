package bid

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Turn tells a waiter what to do after the action Wake.
type Turn struct {
	Won     bool
	Lease   Lease    // the lease, if the bid is won
	Refusal *Refusal // the refusal, if a round with all nodes has failed; nil: none
	Pause   Pause    // the pause before the next question to all nodes
}

// Next returns the lease if the bid is won. Otherwise it returns the pause before the next question to all nodes. The
// pause is short while hand-offs come in. Otherwise it lasts until the end of the holder's lease, but at most for the
// parameter every. The parameter retry is the pause of a waiter to which no hand-off will come. Next decides all this
// for one state of the bid: see [Machine.Outcome].
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
		soon = m.part != 0 // a late answer brought a partial grant after the round failed
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
	p.Alone = foreign || r.Kind == Contended // the holder of a foreign lock sends no hand-off, and with split votes there is no holder
	switch {
	case soon:
		p.About = Gather
	case m.part != 0:
		p.Part = PartEvery + max(now.Sub(m.halved), 0)/5
	}
	return Turn{Refusal: r, Pause: p}, m.out
}

// Outcome returns the lease if the bid is won, otherwise the refusal. cut says that the wait ended before the answers
// decided the round. One call returns both results. With two calls, the bid could be won between them, and the caller
// would treat a good lease as one that came too late.
func (m *Machine) Outcome(now clock.Instant, cut bool) (Lease, *Refusal, []Action) {
	m.start()
	if l, ok := m.take(now); ok {
		return l, nil, m.out
	}
	return Lease{}, m.Refused(cut), nil
}
