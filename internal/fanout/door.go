package fanout

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
	"github.com/holdfast-go/holdfast/internal/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// door is a mutex that is held over round trips. A channel and not a [sync.Mutex], so that in
// a bubble of testing/synctest time goes on while somebody waits for it.
type door chan struct{}

func newDoor() door { return make(door, 1) }

// Lock waits until nobody else is in the door.
func (d door) Lock() { d <- struct{}{} }

// Unlock lets the next one in.
func (d door) Unlock() { <-d }

// admitted sees to it that the node votes, and reports whether it does; if not, the
// standing says why. One worker at a time goes through the door; it is passed without
// a lock's wait while the node votes.
func (s *seat) admitted() bool {
	step, due := s.next()
	if step == quorum.Send && !due {
		return true
	}
	s.door.Lock()
	defer s.door.Unlock()
	for tries := 0; ; tries++ {
		step, due := s.next()
		switch step {
		case quorum.Send:
			if due {
				s.refresh()
			}
			return true
		case quorum.Refuse:
			return false
		case quorum.Greet:
			// A refusal of this very call is final for its batch: a node that is down
			// must not be asked in a circle.
			if tries > 2 {
				return false
			}
			if !s.greet() {
				return false
			}
		case quorum.Admit:
			if !s.admit() {
				return false
			}
		}
	}
}

func (s *seat) next() (step quorum.Step, refreshDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.fan.Now()
	return s.standing.Next(now), s.standing.RefreshDue(now)
}

// forgot notes that the node does not know its scripts or its guard any more.
func (s *seat) forgot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Forgot()
}

// doubt makes a node that votes be met anew before it gets anything but releases.
func (s *seat) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Doubt()
}

// broke notes that a call failed in a way that makes the node doubtful.
func (s *seat) broke(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Broke(s.fan.Now(), err)
}

// hello asks the node for its incarnation and its clock.
func (s *seat) hello(ctx context.Context, timeout time.Duration) (nodescript.Hello, quorum.Reading, error) {
	// A first answer includes the time to connect. Half of what an answer takes may count
	// as distance between the clocks, and tickets of waiters are no more exact than that:
	// where it was long, another one is asked for, if there is time: a call that is cut off costs its connection.
	var best quorum.Reading
	var h nodescript.Hello
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := s.fan.Now()
	for tries := 0; ; tries++ {
		sent := s.fan.Now()
		again, err := nodescript.ParseHello(s.node.Eval(within, nodescript.HelloText(), node.Call{}))
		received := s.fan.Now()
		switch {
		case tries > 0 && node.Timeout(err):
			return h, best, nil // in time it answered once
		case err != nil:
			return again, quorum.Reading{}, err
		}
		h = again
		if took := received.Sub(sent); tries == 0 || took < best.Received.Sub(best.Sent) {
			best = quorum.Reading{Node: s.index, Time: h.Time, Sent: sent, Received: received}
		}
		took := best.Received.Sub(best.Sent)
		if took <= s.fan.config.Set.Window/64 || tries == 2 || received.Sub(began)+took > timeout {
			return h, best, nil
		}
	}
}

func (s *seat) greet() bool {
	h, reading, err := s.hello(s.fan.ctx, s.fan.config.Timeout)
	twin := ""
	if err == nil {
		s.fan.read(reading)
		twin = s.fan.meet(s.index, h.Run)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Greeted(s.fan.Now(), h, err, twin)
	return s.noteRefusal(s.standing.Next(s.fan.Now()) == quorum.Admit)
}

// admit asks the node to vote, with a stamp that a majority of clocks confirms. It
// waits for that majority: the other nodes are being greeted at the same time.
func (s *seat) admit() bool {
	timeout := time.NewTimer(s.fan.config.Timeout)
	defer timeout.Stop()
	select {
	case <-s.fan.settled:
	case <-timeout.C:
	case <-s.fan.ctx.Done():
	}
	stamp, _, err := s.fan.Stamp()
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.standing.Unsettled(s.fan.Now(), err)
		return s.noteRefusal(false)
	}
	s.mu.Lock()
	scripts := s.standing.Scripts()
	s.mu.Unlock()
	set := s.fan.config.Set
	ctx, cancel := context.WithTimeout(s.fan.ctx, s.fan.config.Timeout)
	defer cancel()
	sent := s.fan.Now()
	a := nodescript.ParseAdmit(set, s.node.Eval(ctx, scripts.Admit, nodescript.AdmitCall(set, stamp), scripts.Load()...))
	received := s.fan.Now()
	if a.Time != 0 {
		s.fan.read(quorum.Reading{Node: s.index, Time: a.Time, Sent: sent, Received: received})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Admitted(received, a)
	return s.noteRefusal(a.Verdict == nodescript.Done)
}

// refresh keeps the guard and reads the clock anew. A failure shows in the calls that
// follow; it is not an event of its own.
func (s *seat) refresh() {
	s.mu.Lock()
	s.standing.Refreshed(s.fan.Now())
	scripts := s.standing.Scripts()
	s.mu.Unlock()
	h, reading, err := s.hello(s.fan.ctx, s.fan.config.Timeout)
	if err != nil {
		return
	}
	s.fan.read(reading)
	if h.Run != scripts.Run {
		return
	}
	stamp, _ := s.fan.StampHeld()
	call := nodescript.RefreshCall(stamp, s.fan.config.Set.Window)
	ctx, cancel := context.WithTimeout(s.fan.ctx, s.fan.config.Timeout)
	defer cancel()
	s.node.EvalSHA(ctx, []node.Call{{SHA: scripts.SHA(call.Op), Args: call.Args}})
}

// noteRefusal logs when a node stops voting, when the reason changes and when it votes
// again. s.mu is held.
func (s *seat) noteRefusal(ok bool) bool {
	if ok {
		if s.standing.Next(s.fan.Now()) == quorum.Send && s.said != "" {
			s.said = ""
			s.fan.config.Logger.Info("node votes again", "node", s.node.Addr())
		}
		return true
	}
	a := s.standing.Refusal(s.fan.Now())
	why := fmt.Sprint(a.Verdict, a.Detail, node.Reason(a.Err))
	if why != s.said && s.fan.ctx.Err() == nil {
		s.said = why
		offset, _ := s.fan.Offset(s.index)
		log := s.fan.config.Logger.With("node", s.node.Addr(), "reason", Said(a, offset))
		if a.Verdict == nodescript.Quarantined {
			log.Warn("node votes again in " + ForPeople(a.Left))
		} else {
			log.Warn("node does not vote")
		}
	}
	return false
}
