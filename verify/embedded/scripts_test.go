package embedded_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// pair is an embedded node and a redis-server that get the same calls.
type pair struct {
	t    *testing.T
	both [2]*wire
}

func newPair(t *testing.T) *pair {
	s := redistest.Start(t)
	p := &pair{t, [2]*wire{dial(t, start(t, embedded.Restarted()).Addr()), dial(t, s.Addr())}}
	p.serve()
	return p
}

// serve makes both servers remember that they voted, until two windows from now. So their quarantine begins then.
func (p *pair) serve() {
	p.t.Helper()
	for _, w := range p.both {
		h, err := w.hello()
		if err != nil {
			p.t.Fatal(err)
		}
		w.HSet(ctx, nodescript.AdmissionKey, nodescript.Served(h.Run, h.Time+2*window.Microseconds()))
	}
}

// slack is the allowed difference between the results of the same call on the two servers, beside the time that the
// test itself takes.
const slack = 300 * time.Millisecond

// each runs f on both servers. It fails the test if they disagree by more than their clocks may differ.
func (p *pair) each(what string, want nodescript.Verdict, f func(w *wire) nodescript.Answer) {
	p.t.Helper()
	began := time.Now()
	a, b := f(p.both[0]), f(p.both[1])
	apart := slack + time.Since(began)
	if a.Verdict != want {
		p.t.Errorf("%s: embedded says %+v, want verdict %d", what, a, want)
	}
	near := func(x, y int64) bool { return max(x, y)-min(x, y) < apart.Microseconds() }
	if !near(a.Time, b.Time) || !near(a.Left.Microseconds(), b.Left.Microseconds()) {
		p.t.Errorf("%s: embedded says %+v, redis-server %+v", what, a, b)
	}
	a.Time, b.Time, a.Left, b.Left = 0, 0, 0, 0
	if fmt.Sprint(a) != fmt.Sprint(b) {
		p.t.Errorf("%s: embedded says %+v, redis-server %+v", what, a, b)
	}
	p.same(what)
}

// same compares the stored data of both servers. Stamps come from the client, so the records must be exactly equal. The
// only exception is a tombstone that was limited to a node's own clock.
func (p *pair) same(what string) {
	p.t.Helper()
	began := time.Now()
	a, b := p.both[0].view(p.t), p.both[1].view(p.t)
	if a.Record != b.Record || a.Plain != b.Plain || a.Kind != b.Kind || a.Written != b.Written {
		p.t.Errorf("%s: embedded keeps %+v, redis-server %+v", what, a, b)
	}
	if d := a.Left - b.Left; d.Abs() > slack+time.Since(began) {
		p.t.Errorf("%s: the plain key expires in %s on embedded, in %s on redis-server", what, a.Left, b.Left)
	}
	p.sameQueue(what)
}

func (p *pair) op(what string, want nodescript.Verdict, c nodescript.Call) {
	p.t.Helper()
	p.each(what, want, func(w *wire) nodescript.Answer { return w.call(c) })
}

func TestScriptsRunAsOnRedis(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	admit := func(c nodescript.Config, stamp func() int64) func(w *wire) nodescript.Answer {
		return func(w *wire) nodescript.Answer { return w.admit(c, stamp()) }
	}
	p.each("admit for another incarnation", nodescript.NotAdmitted, func(w *wire) nodescript.Answer {
		w.scripts = nodescript.NewScripts(shared, "another")
		return w.evalAdmit(shared, nodescript.AdmitCall(now(), window, "", "nonce", false))
	})
	p.op("acquire without scripts", nodescript.Failed, nodescript.AcquireCall(lock, "a~1", now(), ttl))
	p.each("admit with a wrong clock", nodescript.OffClock, admit(shared, func() int64 { return now() + time.Hour.Microseconds() }))
	p.serve() // the calls before may have taken long on a busy machine
	p.each("first admit", nodescript.Quarantined, admit(shared, now))
	p.op("acquire in quarantine", nodescript.NotAdmitted, nodescript.AcquireCall(lock, "a~1", now(), ttl))
	redistest.Eventually(t, 20*time.Second, "both vote", func() bool {
		return p.both[0].admit(shared, now()).Verdict == nodescript.Done && p.both[1].admit(shared, now()).Verdict == nodescript.Done
	})
	p.each("admit again", nodescript.Done, admit(shared, now))
	other := shared
	other.MaxTTL = time.Minute
	p.each("admit of another configuration", nodescript.Misconfigured, admit(other, now))
	p.each("admit of ours again", nodescript.Done, admit(shared, now))

	T := now()
	p.op("acquire", nodescript.Granted, nodescript.AcquireCall(lock, "a~1", T, ttl))
	p.op("acquire repeated", nodescript.Granted, nodescript.AcquireCall(lock, "a~1", T, ttl))
	p.op("acquire with a token not above the last", nodescript.Stale, nodescript.AcquireCall(lock, "a~1", T-1, ttl))
	p.op("acquire what is held", nodescript.Held, nodescript.AcquireCall(lock, "b~1", now(), ttl))
	p.op("acquire off the clock", nodescript.OffClock, nodescript.AcquireCall(lock, "b~1", now()+time.Hour.Microseconds(), ttl))
	S := now()
	p.op("extend", nodescript.Extended, nodescript.ExtendCall(lock, "a~1", T, S, S+1e6, ttl, window))
	p.op("extend what another has", nodescript.Lost, nodescript.ExtendCall(lock, "b~1", T, S, S+1e6, ttl, window))
	p.op("refresh", nodescript.Done, nodescript.RefreshCall(now(), window))
	p.op("release what another has", nodescript.NotMine, nodescript.ReleaseCall(lock, "b~1", T))
	p.op("release", nodescript.Done, nodescript.ReleaseCall(lock, "a~1", S))
	p.op("release repeated", nodescript.NotMine, nodescript.ReleaseCall(lock, "a~1", S))
	p.op("late acquire", nodescript.Stale, nodescript.AcquireCall(lock, "a~1", T, ttl))
	p.op("late extend", nodescript.Lost, nodescript.ExtendCall(lock, "a~1", T, S, S+1e6, ttl, window))

	T = now()
	p.op("repair", nodescript.Repaired, nodescript.ExtendCall(lock, "c~1", T, T, T+1e6, ttl, window))
	p.op("leave", nodescript.Done, nodescript.LeaveCall(lock, "c~1", T, T+1_000_000))
	p.op("leave repeated", nodescript.Done, nodescript.LeaveCall(lock, "c~1", T, T+1_000_000))
	p.op("extend after leave", nodescript.Lost, nodescript.ExtendCall(lock, "c~1", T, now(), T+1e6, ttl, window))
	p.op("acquire what was left", nodescript.Held, nodescript.AcquireCall(lock, "d~1", now(), ttl))
	redistest.Eventually(t, 5*time.Second, "the name is free again", func() bool {
		T = now()
		c := nodescript.AcquireCall(lock, "d~1", T, ttl)
		return p.both[0].call(c).Verdict == nodescript.Granted && p.both[1].call(c).Verdict == nodescript.Granted
	})
	p.same("acquired after leave")
	p.op("release", nodescript.Done, nodescript.ReleaseCall(lock, "d~1", T))

	for _, w := range p.both {
		w.Set(ctx, lock.Name, "someone", 30*time.Second)
	}
	p.op("acquire what a foreign client has", nodescript.Held, nodescript.AcquireCall(lock, "e~1", now(), ttl))
	for _, w := range p.both {
		w.Set(ctx, lock.Name, "someone", 0)
	}
	p.op("acquire what never expires", nodescript.Held, nodescript.AcquireCall(lock, "e~1", now(), ttl))
	for _, w := range p.both {
		w.Del(ctx, lock.Name)
		w.HSet(ctx, lock.Name, "a", "b")
	}
	p.op("acquire a hash", nodescript.Held, nodescript.AcquireCall(lock, "e~1", now(), ttl))
	T = now()
	p.op("extend over a hash", nodescript.Lost, nodescript.ExtendCall(lock, "e~1", T, T, T+1e6, ttl, window))
	for _, w := range p.both {
		w.Set(ctx, nodescript.RecordKey(lock.Name), "rubbish", 0)
	}
	for what, c := range map[string]nodescript.Call{
		"acquire": nodescript.AcquireCall(lock, "e~1", now(), ttl),
		"release": nodescript.ReleaseCall(lock, "e~1", T),
		"extend":  nodescript.ExtendCall(lock, "e~1", T, T, T+1e6, ttl, window),
	} {
		if a, b := p.both[0].call(c), p.both[1].call(c); a.Verdict != nodescript.Corrupt || b.Verdict != a.Verdict {
			t.Errorf("%s of rubbish: embedded says %+v, redis-server %+v", what, a, b)
		}
	}

	for _, w := range p.both {
		w.Del(ctx, nodescript.GuardKey)
	}
	p.both[0].Del(ctx, nodescript.RecordKey(lock.Name), lock.Name)
	p.both[1].Del(ctx, nodescript.RecordKey(lock.Name), lock.Name)
	p.op("acquire without the guard", nodescript.NotAdmitted, nodescript.AcquireCall(lock, "e~1", now(), ttl))
	p.op("refresh without the guard", nodescript.NotAdmitted, nodescript.RefreshCall(now(), window))
	p.each("admit after the guard vanished", nodescript.Quarantined, admit(shared, now))
	for _, w := range p.both {
		w.ScriptFlush(ctx)
	}
	p.each("acquire after SCRIPT FLUSH", nodescript.Failed, func(w *wire) nodescript.Answer {
		a := w.call(nodescript.AcquireCall(lock, "e~1", now(), ttl))
		if node.Code(a.Err) != node.NoScript {
			t.Errorf("acquire after SCRIPT FLUSH: %v", a.Err)
		}
		a.Err = nil // the words differ
		return a
	})
}
