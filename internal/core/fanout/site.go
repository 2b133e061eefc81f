package fanout

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/node"
)

// site is the client's knowledge about the server to which a node's address leads. Open connections stay with their
// server when the address moves. So the client proves from time to time that a new connection leads to the server that
// it uses: the driver dials, asks for the run id, and closes. See "A moved address" in docs/design/proofs.md.
type site struct {
	node    node.Identified    // nil: the driver cannot prove where connections lead
	proving longMutex          // held during a proof
	proofs  atomic.Int64       // the number of proofs that have ended
	refusal *nodescript.Answer // the refusal of the last proof, nil after a success; proving guards it

	proven atomic.Int64 // a clock.Instant: the address led to the server run then, or later
	former atomic.Int64 // a clock.Instant: the address led to the server before run then; 0: there was none
	change atomic.Int64 // a clock.Instant: when a proof first led to run; answers to requests before it may come from the server before
	void   atomic.Int64 // a clock.Instant: answers to requests sent before it came from a server that the address has left

	// The mutex of the voter guards these fields.
	run   string
	moved int
	dials int           // as many new connections in a row have led to one server
	split clock.Instant // the address leads to several servers; the node does not vote before this instant
	timer *time.Timer   // starts the next proof; nil: none was made yet
	again func()        // ends the dial of the proof under way, which then dials again; nil: no proof is under way
}

// proveEvery returns the longest pause between two proofs of a node while the client is at work. With the default
// MaxTTL it is two seconds, so 100 clients make about 60 connections a second to a node. With a small MaxTTL it is half
// of the quarantine: more dials would slow down a busy host, and a lease must not rely on a proof for much less than
// its TTL.
func (f *Fanout) proveEvery() time.Duration {
	return min(f.config.Set.Quarantine()/2, 2*time.Second)
}

// An address is new to a client until newUntil connections in a row have led to one server. Its proofs come after
// proveSooner at the latest, so they are all made before the quarantine of a new server ends. A load balancer in front
// of several servers would hardly send all of them to one.
const newUntil = 10

func (f *Fanout) proveSooner() time.Duration { return min(f.config.Set.MaxTTL/12, time.Second/2) }

// provenFor is the time for which a lease may rely on a proof. A server to which the address moved after the proof
// began votes after a quarantine at the earliest. The margin is for clocks that run at different speeds, and for
// timers: see quorum.Validity.
func (f *Fanout) provenFor() time.Duration {
	q := f.config.Set.Quarantine()
	return q - q/100 - 2*time.Millisecond
}

// unproven reports whether the last proof is too old for a vote, or is about another server than run. A proof is too
// old if a lease could rely on it for less than a quarter of its time. A vote does not wait for a proof before that.
func (v *voter) unproven(now clock.Instant, run string) bool {
	s := &v.site
	if s.node == nil {
		return false
	}
	return s.run != run || now.Sub(clock.Instant(s.proven.Load())) > v.fan.provenFor()*3/4 || now < s.split
}

// proofTimeouts is the time limit of a proof, in node timeouts. A new connection needs several round trips.
const proofTimeouts = 4

// prove makes a proof, by a dial if dials is true. Otherwise a connection for calls may have proven the address a
// moment ago. It returns the refusal of a node that cannot vote now, nil if it can. The caller holds site.proving.
func (v *voter) prove(dials bool) *nodescript.Answer {
	v.site.refusal = v.proveOnce(dials)
	v.site.proofs.Add(1)
	return v.site.refusal
}

// proveOnce does the work of prove.
func (v *voter) proveOnce(dials bool) *nodescript.Answer {
	s := &v.site
	asked, id, err := v.identify(dials)
	now := v.fan.Now()
	v.proveAgain(err == nil && id.Dials < newUntil)
	v.mu.Lock()
	gone := id.Moved != s.moved && s.run != ""
	s.dials = id.Dials
	if s.moved = id.Moved; gone {
		s.void.Store(int64(now))
		v.standing.Doubt()
	}
	if left := v.fan.config.Set.Quarantine() - id.Returned; id.Returned > 0 && left > 0 {
		s.split = now.Add(left)
	}
	switch {
	case err != nil:
	case id.Run == "": // greetings fail, too, if a server does not tell its run id
		v.provenLocked(v.standing.Run(), asked, now)
	default:
		v.provenLocked(id.Run, asked, now)
	}
	split := v.splitNow(now)
	v.mu.Unlock()
	if left := v.fan.left.Load(); gone && left != nil {
		(*left)(v.index)
	}
	switch {
	case split:
		return &nodescript.Answer{Verdict: nodescript.Unfit, Cause: nodescript.Several}
	case err != nil:
		a := failed(err)
		return &a
	}
	return nil
}

// provenLocked notes that a dial that began at the instant asked led to the server run. If the address led to another
// server before, answers of that server count only while its last proof holds. After several changes, the oldest of
// these proofs counts. The caller holds v.mu.
func (v *voter) provenLocked(run string, asked, now clock.Instant) {
	s := &v.site
	if s.run != run && s.run != "" {
		if now.Sub(clock.Instant(s.change.Load())) > v.fan.config.Set.MaxTTL || s.former.Load() == 0 {
			s.former.Store(s.proven.Load())
		}
		s.change.Store(int64(now))
	}
	s.run = run
	s.proven.Store(int64(asked)) // after the others: see holds
}

// holds returns the instant until which an answer to a request sent at the instant sent may count.
func (v *voter) holds(sent clock.Instant) clock.Instant {
	s := &v.site
	proven := s.proven.Load() // before the others: see provenLocked
	if sent <= clock.Instant(s.change.Load()) {
		proven = min(proven, s.former.Load())
	}
	return clock.Instant(proven).Add(v.fan.provenFor())
}

// identify asks a new connection where it leads. asked is the instant at which its dial began. A dial that hangs while
// the node cannot be reached is not waited for when the node is back: see dialAgain.
func (v *voter) identify(dials bool) (asked clock.Instant, id node.Identity, err error) {
	for {
		asked = v.fan.Now()
		if id, ok := v.met(); ok && !dials {
			return asked.Add(-id.Age), id, nil
		}
		v.fan.Suspect()
		ctx, cancel := context.WithTimeout(v.fan.hear, proofTimeouts*v.fan.patience())
		again := false
		v.mu.Lock()
		v.site.again = func() { again = true; cancel() }
		v.mu.Unlock()
		id, err = v.site.node.Identify(ctx)
		cancel()
		v.mu.Lock()
		v.site.again = nil
		v.mu.Unlock()
		if err == nil || !again {
			return asked, id, err
		}
	}
}

// met returns what a connection for calls proved a moment ago. It saves the dial of a proof, above all on a busy host,
// where connections are lost.
func (v *voter) met() (id node.Identity, ok bool) {
	id = v.site.node.Met()
	return id, id.Dials >= newUntil && id.Age <= v.fan.proveEvery()/4
}

// dialAgain makes the proof under way dial again. The caller holds v.mu.
func (v *voter) dialAgain() {
	if v.site.again != nil {
		v.site.again()
	}
}

// splitNow makes the node refuse while its address leads to several servers. It reports whether it does. The caller
// holds v.mu.
func (v *voter) splitNow(now clock.Instant) bool {
	if now >= v.site.split {
		return false
	}
	v.standing.Split(now)
	v.noteRefusal(false)
	return true
}

// mostProofs is the number of proofs that show whether an address has moved or leads to several servers. provenAfter is
// the number of connections in a row to one server that are enough for somebody who looks at a node.
const (
	mostProofs  = 8
	provenAfter = 4
)

// proveOften makes proofs for somebody who looks at the node, which has answered a. If all of them lead to the server
// of that answer, few are enough, or one if the address is not new to the client. Otherwise the address leads to
// several servers, or has moved: more proofs show which. The answer of a node that has moved is out of date.
func (v *voter) proveOften(a nodescript.Answer) (several, moved bool) {
	if v.site.node == nil {
		return false, false
	}
	v.site.proving.Lock()
	defer v.site.proving.Unlock()
	moved = a.Verdict == nodescript.Failed && node.Code(a.Err) == "" // maybe: the driver closes connections to a former server
	for range mostProofs {
		refusal := v.prove(true)
		v.mu.Lock()
		several = v.splitNow(v.fan.Now())
		moved = moved || v.site.run != v.standing.Run()
		known := v.site.dials >= provenAfter || v.site.dials == 0 // 0: the server does not tell its run id
		v.mu.Unlock()
		elsewhere := refusal != nil && errors.Is(refusal.Err, node.ErrElsewhere)
		moved = moved || elsewhere
		if several || known && !moved || refusal != nil && !elsewhere {
			break
		}
	}
	return several, moved
}

// atSite makes a proof if a voting node needs one. It returns false if the node does not vote for lack of a proof. If a
// proof is under way, its result counts even if it failed: a vote does not wait for one proof after the other.
func (v *voter) atSite() bool {
	if v.site.node == nil {
		return true
	}
	needed := func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.unproven(v.fan.Now(), v.standing.Run())
	}
	if !needed() {
		return true
	}
	before := v.site.proofs.Load()
	v.site.proving.Lock()
	defer v.site.proving.Unlock()
	if !needed() { // a proof was under way
		return true
	}
	a := v.site.refusal
	if a == nil || v.site.proofs.Load() == before { // a proof that succeeded may be about the server before
		a = v.prove(false)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case a == nil && v.site.run != v.standing.Run():
		v.standing.Doubt() // a greeting finds the other server
	case a != nil && a.Verdict == nodescript.Failed:
		v.standing.Unproven(v.fan.Now(), a.Err)
		v.noteRefusal(false)
	}
	proven := a == nil && v.site.run == v.standing.Run()
	if proven {
		v.noteRefusal(true)
	}
	return proven
}

// proveNow makes a proof in the background.
func (v *voter) proveNow() {
	v.fan.mu.Lock()
	defer v.fan.mu.Unlock()
	if v.site.node != nil && !v.fan.closed {
		v.fan.wait.Go(func() {
			if v.site.proving.TryLock() { // otherwise a proof is under way
				v.prove(false)
				v.site.proving.Unlock()
			}
		})
	}
}

// proveAgain starts the timer of the next proof. Clients draw different pauses, so that their dials do not come
// together.
func (v *voter) proveAgain(sooner bool) {
	every := v.fan.proveEvery()
	if sooner {
		every = min(every, v.fan.proveSooner())
	}
	pause := every - v.fan.Draw(every/4)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.site.timer == nil {
		v.site.timer = v.fan.AfterFunc(pause, v.proveSoon)
	} else {
		v.site.timer.Reset(pause)
	}
}

// proveSoon makes a proof in the background, unless the client had no work for the time restWhen, or the last greeting
// failed. The next work or greeting then makes one first.
func (v *voter) proveSoon() {
	s := v.fan.senders[v.index]
	s.mu.Lock()
	idle := v.fan.Now().Sub(s.worked) > v.fan.restWhen()
	s.mu.Unlock()
	if !idle && !v.unmet.Load() {
		v.proveNow()
	}
}

// WhenLeft sets the function that learns that a node's address leads to another server now, while the former one still
// runs. It gets the index of the node.
func (f *Fanout) WhenLeft(left func(node int)) { f.left.Store(&left) }

// Left reports whether the answer of a node to a request sent at the instant sent came from a server that the address
// has left since then.
func (f *Fanout) Left(node int, sent clock.Instant) bool {
	return sent < clock.Instant(f.voters[node].site.void.Load())
}

// Proven returns the deadline of a lease. by returns the instant until which a node's answer to a request sent at the
// instant sent counts, and false if the node did not grant or renew the lease. The answer also counts only while the
// last proof of the node's server holds. Proven takes the majority that counts longest. It returns 0 if there is no
// majority.
func (f *Fanout) Proven(sent clock.Instant, by func(node int) (until clock.Instant, ok bool)) clock.Instant {
	var most [64]clock.Instant
	until := most[:0]
	for i, v := range f.voters {
		at, ok := by(i)
		switch {
		case !ok || f.Left(i, sent):
		case v.site.node == nil:
			until = append(until, at)
		default:
			until = append(until, min(at, v.holds(sent)))
		}
	}
	need := quorum.Majority(f.N())
	if len(until) < need {
		return 0
	}
	slices.Sort(until)
	return until[len(until)-need]
}
