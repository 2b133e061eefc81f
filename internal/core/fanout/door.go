package fanout

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// door is a mutex that a worker holds over round trips. It is a channel and not a [sync.Mutex], so that time in a
// bubble of testing/synctest goes on while a worker waits for it.
type door chan struct{}

func newDoor() door { return make(door, 1) }

// Lock waits until the door is free and takes it.
func (d door) Lock() { d <- struct{}{} }

// Unlock frees the door.
func (d door) Unlock() { <-d }

// admitted greets and admits the node if necessary, and reports whether the node votes. If it does not, the standing
// has the reason. Only one worker at a time is in the door. While the node votes, admitted does not wait for the door.
func (s *seat) admitted() bool {
	step, due := s.next()
	if step == quorum.Send && !due {
		return true
	}
	s.door.Lock()
	defer s.door.Unlock()
	return s.through()
}

// through does the work of admitted. The caller is in the door.
func (s *seat) through() bool {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.heard && s.greeted == 0 {
			s.greeted = max(s.fan.Now(), 1)
		}
	}()
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
			// A refusal of this very call is final for its batch. Otherwise a node that is down would be asked in an
			// endless loop.
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
	if s.standing.Next(now) == quorum.Send && s.fan.untrusted(s.index) {
		s.standing.Doubt()
	}
	return s.standing.Next(now), s.standing.RefreshDue(now)
}

// reconsider has the node asked again if it was refused.
func (s *seat) reconsider() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Reconsider()
}

// doubt has a voting node met again before it gets anything except releases.
func (s *seat) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Doubt()
}

// forgot notes that the node has lost its scripts or its guard.
func (s *seat) forgot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Forgot()
}

// look asks the node whether it votes, even if it voted a moment ago, and returns its answer. Calls to a voting node go
// on meanwhile, until the node itself says that it does not vote: nobody loses a lease because somebody looks.
//
// One look is under way at a time. Callers that come meanwhile share the next one: its question is later than their
// calls. So looks that a hung node does not answer do not pile up before the door.
func (s *seat) look() nodescript.Answer {
	s.mu.Lock()
	next := s.nextLook
	if next != nil {
		s.mu.Unlock()
		<-next.done
		return next.answer
	}
	next = &look{done: make(chan struct{})}
	s.nextLook = next
	s.mu.Unlock()
	s.looking.Lock()
	s.mu.Lock()
	s.nextLook = nil // later callers need a later question
	s.mu.Unlock()
	next.answer = s.lookOnce()
	s.looking.Unlock()
	close(next.done)
	return next.answer
}

// look is a look that has not begun, or its result.
type look struct {
	done   chan struct{} // closed when answer is set
	answer nodescript.Answer
}

// lookOnce does the work of look.
func (s *seat) lookOnce() nodescript.Answer {
	s.door.Lock()
	defer s.door.Unlock()
	if step, _ := s.next(); step == quorum.Send {
		if a, told := s.ask(); told {
			return a
		}
	}
	s.reconsider() // the node may have lost its memory once more since its refusal
	if s.through() {
		return nodescript.Answer{Verdict: nodescript.Done}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing.Refusal(s.fan.Now())
}

// ask asks a voting node whether it still votes. If told is false, the node must be greeted again.
func (s *seat) ask() (a nodescript.Answer, told bool) {
	h, reading, err := s.hello(s.fan.ctx, s.fan.config.Timeout)
	if err != nil {
		return s.unanswered(err), true
	}
	s.fan.read(reading)
	twin := s.fan.meet(s.index, h.Run)
	s.mu.Lock()
	scripts, loaded, challenge := s.standing.Scripts(), s.standing.Loaded(), s.standing.Challenge()
	if unfit, _ := h.Unfit(); h.Run != scripts.Run || twin != "" || unfit != nodescript.NoCause {
		defer s.mu.Unlock()
		s.standing.Doubt() // a whole greeting follows: it also notes which server this is, and whether it is durable
		return a, false
	}
	s.mu.Unlock()
	stamp, within, err := s.fan.admission()
	if err != nil {
		return failed(err), true
	}
	a, received := s.evalAdmit(scripts, loaded, stamp, within, challenge)
	if a.Verdict == nodescript.Failed {
		return s.unanswered(a.Err), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Asked(received, a)
	s.noteRefusal(s.standing.Next(received) != quorum.Refuse)
	return a, a.Verdict != nodescript.Challenged
}

// unanswered returns the answer for a node that did not answer a question of ask.
func (s *seat) unanswered(err error) nodescript.Answer {
	if changed(err) {
		s.broke(err)
	}
	return failed(err)
}

// broke notes that a call failed in a way that makes the node doubtful.
func (s *seat) broke(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Broke(s.fan.Now(), err)
}

// hello asks the node for its incarnation and its clock.
func (s *seat) hello(ctx context.Context, timeout time.Duration) (nodescript.Hello, quorum.Reading, error) {
	// The first answer includes the time to connect. A clock reading is uncertain by half of the round trip, and so are
	// the tickets of waiters. After a long round trip hello therefore asks again, if the timeout leaves enough time: a
	// call that is cut off costs its connection.
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
			return h, best, nil // the node has answered in time once
		case node.Timeout(err):
			return again, quorum.Reading{}, Overdue{s.fan.config.Timeout, err}
		case err != nil:
			return again, quorum.Reading{}, err
		}
		if h = again; tries == 0 {
			s.mu.Lock()
			s.heard = true
			s.mu.Unlock()
		}
		if took := received.Sub(sent); tries == 0 || took < best.Received.Sub(best.Sent) {
			best = quorum.Reading{Node: s.index, Time: h.Time, Sent: sent, Received: received}
		}
		took := best.Received.Sub(best.Sent)
		if took <= s.fan.config.Set.Window/64 || tries == 2 || received.Sub(began)+took > timeout {
			return h, best, nil
		}
	}
}

// Overdue is the error of a node that did not answer a greeting in time. A node that is far away may cause it too,
// while the driver connects.
type Overdue struct {
	Timeout time.Duration
	err     error
}

// Error returns the timeout and the driver's error.
func (l Overdue) Error() string {
	return fmt.Sprintf("no answer within the node timeout, %s: %v", l.Timeout, l.err)
}

// Unwrap returns the driver's error.
func (l Overdue) Unwrap() error { return l.err }

func (s *seat) greet() bool {
	h, reading, err := s.hello(s.fan.ctx, s.fan.config.Timeout)
	twin := ""
	if err == nil {
		h.Lax, h.Sync, err = s.lax(s.fan.ctx)
	}
	if err == nil {
		s.fan.sawAlive(s.index, h.ID, reading.Sent)
		s.fan.read(reading)
		twin = s.fan.meet(s.index, h.Run)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unmet = err != nil
	s.standing.Greeted(s.fan.Now(), h, err, twin)
	return s.noteRefusal(s.standing.Next(s.fan.Now()) == quorum.Admit)
}

// admit asks the node to vote, with a stamp that a majority of clocks confirms. It waits for that majority, because the
// other nodes are being greeted at the same time. If the node lost its memory, it answers with a challenge. admit then
// returns true, and the caller asks again with a stamp drawn after that answer.
func (s *seat) admit() bool {
	timeout := time.NewTimer(s.fan.config.Timeout)
	defer timeout.Stop()
	select {
	case <-s.fan.settled:
	case <-timeout.C:
	case <-s.fan.ctx.Done():
	}
	s.mu.Lock()
	scripts, loaded, challenge := s.standing.Scripts(), s.standing.Loaded(), s.standing.Challenge()
	s.mu.Unlock()
	stamp, within, err := s.fan.admission()
	if err != nil {
		loaded = loaded || s.load(scripts)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.standing.Unsettled(s.fan.Now(), loaded, err)
		return s.noteRefusal(false)
	}
	a, received := s.evalAdmit(scripts, loaded, stamp, within, challenge)
	member := nodescript.Answer{Verdict: nodescript.Done}
	if a.Verdict == nodescript.Done && s.fan.lists() {
		member = s.fan.member(s.index)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standing.Admitted(received, a); member.Verdict != nodescript.Done {
		s.standing.NoMember(s.fan.Now(), member)
		return s.noteRefusal(false)
	}
	again := a.Verdict == nodescript.Challenged && s.standing.Next(received) == quorum.Admit
	return s.noteRefusal(again || a.Verdict == nodescript.Done)
}

// evalAdmit has the node run admit, and load the scripts if it does not have them. Loading takes a second round trip
// and the same time again. The caller must draw stamp after the node answered with challenge.
func (s *seat) evalAdmit(scripts *nodescript.Scripts, loaded bool, stamp int64, within time.Duration, challenge string) (a nodescript.Answer, received clock.Instant) {
	set := s.fan.config.Set
	call := nodescript.AdmitCall(stamp, within, challenge, strconv.FormatUint(s.fan.config.Random(), 36))
	load, timeout := scripts.Load(), 2*s.fan.config.Timeout
	if loaded {
		load, timeout = nil, s.fan.config.Timeout
	}
	ctx, cancel := context.WithTimeout(s.fan.ctx, timeout)
	defer cancel()
	sent := s.fan.Now()
	a = nodescript.ParseAdmit(set, s.node.Eval(ctx, scripts.Admit, call, load...))
	received = s.fan.Now()
	took := received.Sub(sent)
	if !loaded {
		took /= 2
	}
	if a.Verdict == nodescript.OffClock {
		a.Took = took
		if off := 2*set.Window - within; within < set.Window && time.Duration(stamp-a.Time).Abs()*time.Microsecond <= set.Window {
			a.Cause, a.Evidence = nodescript.Inexact, &nodescript.Evidence{Off: off}
		}
	}
	if a.Time != 0 && loaded { // otherwise hello has read the clock, in one round trip
		s.fan.read(quorum.Reading{Node: s.index, Time: a.Time, Sent: sent, Received: received})
	}
	return a, received
}

// load has the node load the scripts without an admission, because releases need no vote. It reports whether the
// incarnation that the scripts were made for now has them.
func (s *seat) load(scripts *nodescript.Scripts) bool {
	ctx, cancel := context.WithTimeout(s.fan.ctx, 2*s.fan.config.Timeout) // for two round trips
	defer cancel()
	a := nodescript.ParseAdmit(s.fan.config.Set, s.node.Eval(ctx, scripts.Admit, nodescript.LoadCall(), scripts.Load()...))
	return a.Verdict != nodescript.Failed && a.Verdict != nodescript.NotAdmitted
}

// refresh renews the node's guard and reads its clock. A failure shows in the calls that follow, so refresh reports
// none.
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

// noteRefusal calls Told when a node stops voting, when the reason changes, and when the node votes again. s.mu is
// held.
func (s *seat) noteRefusal(ok bool) bool {
	now := s.fan.Now()
	if ok {
		if s.standing.Next(now) == quorum.Send {
			s.unsettled.over()
			if s.said != (refused{}) {
				s.said = refused{}
				s.tell(nodescript.Answer{Verdict: nodescript.Done})
			}
		}
		return true
	}
	a := s.standing.Refusal(now)
	if s.unsettled.brief(now, a) {
		return false
	}
	if why := refusedBy(a); why != s.said && s.fan.ctx.Err() == nil {
		s.said = why
		s.tell(a)
	}
	return false
}

// spell is a time in which the client does not know the nodes' clocks well enough for the node to vote. Each new client
// has one, of some milliseconds, until it has met a majority.
type spell struct{ since, last clock.Instant }

const (
	// worthTelling is how long such a spell lasts before anybody is told.
	worthTelling = time.Second
	// spellPause is a pause after which it is another spell: a refused node is asked again after a second or so.
	spellPause = 3 * time.Second
)

// brief reports whether a refusal belongs to a spell that has not lasted long.
func (s *spell) brief(now clock.Instant, a nodescript.Answer) bool {
	var unsettled quorum.Unsettled
	if a.Cause != nodescript.Inexact && !errors.As(a.Err, &unsettled) {
		s.over()
		return false
	}
	if s.since == 0 || now.Sub(s.last) >= spellPause {
		s.since = now
	}
	s.last = now
	return now.Sub(s.since) < worthTelling
}

func (s *spell) over() { *s = spell{} }

func (s *seat) tell(a nodescript.Answer) {
	if s.fan.config.Told != nil {
		offset, _ := s.fan.Offset(s.index)
		s.fan.config.Told(s.index, a, offset)
	}
}

// refused is a refusal without its times. Two refusals for the same reason are equal.
type refused struct {
	verdict nodescript.Verdict
	cause   nodescript.Cause
	with    string // the evidence and the error
}

func refusedBy(a nodescript.Answer) refused {
	r := refused{verdict: a.Verdict, cause: a.Cause, with: node.Reason(a.Err)}
	if e := a.Evidence; e != nil {
		r.with += fmt.Sprint(e.Value, e.Theirs, e.Ours)
	}
	return r
}
