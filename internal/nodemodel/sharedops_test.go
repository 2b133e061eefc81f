package nodemodel

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// shared draws a call of a reader, or something that happens to readers only.
func (g *generator) shared() operation {
	switch p := g.IntN(100); {
	case p < 40:
		return g.acquireShared()
	case p < 55:
		return g.extendShared()
	case p < 75:
		return g.releaseShared()
	case p < 80:
		return g.leaveShared()
	case p < 90:
		return g.sharedStory()
	case p < 93:
		l := g.lock()
		return g.script(g.config(), nodescript.QuitCall(l, g.sharer(l)))
	case p < 97:
		return g.inspect()
	case p < 98:
		return g.evict(nodescript.ReadersKey(nodescript.RecordKey(g.lock().Name)))
	}
	return g.spoilReaders()
}

// spoilReaders writes something into a hash of readers that no script writes.
func (g *generator) spoilReaders() operation {
	key := nodescript.ReadersKey(nodescript.RecordKey(g.lock().Name))
	if g.IntN(4) == 0 {
		return g.set(key, "text", time.Minute)
	}
	field := pick(g, noted, sharers[0], sharers[4], intruders[4])
	text := pick(g, "short", nodescript.Micros(inRange(g.w.now))+"x234567890123456", nodescript.Micros(inRange(g.w.now+W))+nodescript.Micros(1))
	if field != noted {
		text = pick(g, "short", strings.Repeat("x", 32))
	}
	return operation{say: fmt.Sprintf("HSET %q %q %q", key, field, text), do: func(w *world) (string, string) {
		if v := w.model.keys[key]; w.model.Full || v == nil || v.hash == nil {
			return "", ""
		}
		w.wire.must("HSET", key, field, text)
		w.model.HSet(key, field, text)
		return "", ""
	}}
}

// entries returns the readers of a lock.
func (g *generator) entries(l nodescript.Lock) []reader {
	k := nodescript.AcquireCall(l, "", 0, 0).Keys
	key := nodescript.ReadersKey(k[0])
	if v := g.w.model.keys[key]; v == nil || v.hash == nil {
		return nil
	}
	var all []reader
	for _, s := range sharers {
		if a, b, ok := twoTokens(g.w.model.keys[key].hash[s]); ok {
			all = append(all, reader{owner: s, token: a, expiry: b})
		}
	}
	return all
}

// sharer often returns a reader that is there.
func (g *generator) sharer(l nodescript.Lock) string {
	if all := g.entries(l); len(all) > 0 && g.IntN(2) == 0 {
		return pick(g, all...).owner
	}
	return pick(g, sharers...)
}

// entry returns a reader and its token, or others.
func (g *generator) entry(l nodescript.Lock) (owner string, T int64) {
	if all := g.entries(l); len(all) > 0 && g.IntN(3) > 0 {
		one := pick(g, all...)
		return one.owner, inRange(one.token)
	}
	return g.sharer(l), g.token(l)
}

func (g *generator) acquireShared() operation {
	l := g.lock()
	owner, T := g.sharer(l), g.token(l)
	if g.IntN(8) == 0 {
		owner, T = g.entry(l) // the command arrives twice
	}
	ttl := g.ttl()
	switch g.IntN(8) {
	case 0, 1, 2:
		return g.script(g.config(), nodescript.QueueCall(l, owner, T, ttl, g.ticket()))
	case 3:
		return g.script(g.config(), nodescript.PassCall(l, owner, T, ttl, g.owner(l)))
	}
	return g.script(g.config(), nodescript.AcquireCall(l, owner, T, ttl))
}

func (g *generator) releaseShared() operation {
	l := g.lock()
	owner, T := g.entry(l)
	if g.IntN(8) == 0 {
		return g.script(g.config(), nodescript.DeclineCall(l, owner))
	}
	give := pick(g, nodescript.ReleaseCall, nodescript.ReleaseCall, nodescript.AbortCall)
	return g.script(g.config(), give(l, owner, inRange(pick(g, T, T, T, g.token(l), g.stamp()+hour))))
}

func (g *generator) extendShared() operation {
	l := g.lock()
	deadline := pick(g, g.w.now, g.w.now+1, g.w.now-W, g.w.now-W-1, g.w.now+2_000_000, g.w.now+2_000_000)
	owner, T := g.entry(l)
	stamp, ttl := g.renewal()
	return g.script(g.config(), nodescript.ExtendCall(l, owner, T, stamp, deadline, ttl, time.Duration(W)*time.Microsecond))
}

func (g *generator) leaveShared() operation {
	l := g.lock()
	owner, T := g.entry(l)
	return g.script(g.config(), nodescript.LeaveCall(l, owner, T, inRange(g.w.now+pick[int64](g, 0, 1, -1, 1000, 60_000_000, -5_000_000))))
}

// sharedStory draws readers and writers that wait for each other.
func (g *generator) sharedStory() operation {
	if g.w.now > 8e15 {
		return g.shared() // no time within the protocol's range lies ahead
	}
	l := nodescript.Lock{Name: pick(g, names...), Private: g.IntN(4) == 0}
	key := nodescript.RecordKey(l.Name)
	s := &scene{g: g, l: l, record: key, queue: queueKey(key), now: g.w.now, last: g.w.now - W/2}
	s.add(g.del(key), g.del(l.Name), g.del(s.queue), g.del(nodescript.ReadersKey(key)))
	for _, c := range []string{"k", "m"} {
		s.add(g.hears(nodescript.Inbox(c), g.IntN(5) > 0))
	}
	w, ttl := time.Duration(W)*time.Microsecond, 3*time.Second
	read := func(owner string, ticket int64) int64 {
		T := s.stamp()
		if ticket == 0 {
			s.call(nodescript.AcquireCall(l, owner, T, ttl))
		} else {
			s.call(nodescript.QueueCall(l, owner, T, ttl, ticket))
		}
		return T
	}
	r0, r1, r2, r3 := sharers[0], sharers[1], sharers[2], sharers[3]
	w0, w1 := owners[0], owners[1]
	switch g.IntN(7) {
	case 0: // a writer waits behind readers, and readers wait behind it
		a, b := read(r0, 0), read(r1, 0)
		s.acquire(w0, s.now-W, "")
		read(r2, s.now-W+1)
		read(r3, s.now-W+2)
		s.call(nodescript.ReleaseCall(l, r0, a))
		s.call(nodescript.ReleaseCall(l, r1, b))
		T := s.acquire(w0, s.now-W, "")
		s.call(nodescript.ReleaseCall(l, w0, T))
		read(r2, s.now-W+1)
		read(r3, s.now-W+2)
	case 1: // the writer in the queue leaves or is dead, and the readers behind it come in
		read(r0, 0)
		T := s.acquire(w0, s.now-W, "")
		read(r1, s.now-W+1)
		read(r2, s.now-W+1)
		if g.IntN(2) == 0 {
			s.add(g.hears(nodescript.Inbox(client(w0)), false))
		} else {
			s.call(nodescript.AbortCall(l, w0, T))
		}
		read(r1, s.now-W+1)
	case 2: // a writer's lease comes back where readers have partial grants
		T := s.acquire(w0, 0, "")
		s.add(g.del(key), g.del(l.Name))
		a, b := read(r0, 0), read(r1, 0)
		extend := func() { s.call(nodescript.ExtendCall(l, w0, T, s.stamp(), s.now+int64(g.IntN(2))*3_000_000, ttl, w)) }
		extend()
		give := pick(g, nodescript.AbortCall, nodescript.ReleaseCall)
		s.call(give(l, r0, a))
		s.call(give(l, r1, b))
		extend()
	case 3: // a reader's lease comes back where a writer was, or after its release
		a := read(r0, 0)
		s.call(nodescript.AbortCall(l, r0, pick(g, a, a-1)))
		if g.IntN(2) == 0 {
			T := s.acquire(w0, 0, "")
			s.call(pick(g, nodescript.AbortCall, nodescript.ReleaseCall)(l, w0, T))
		}
		s.call(nodescript.ExtendCall(l, r0, a, pick(g, s.stamp(), a), s.now+2_000_000, ttl, w))
	case 4: // everything expires, and others come
		read(r0, 0)
		read(r1, 0)
		s.clock(s.now + 3_000_000 + pick[int64](g, 0, 1, -1, W))
		if g.IntN(2) == 0 {
			s.acquire(w0, 0, "")
		} else {
			read(r2, 0)
		}
		s.call(nodescript.ExtendCall(l, r0, s.last-3_000_000, s.stamp(), s.now, ttl, w))
	case 5: // a writer becomes a reader, or passes to one
		T := s.acquire(w0, 0, "")
		s.acquire(w1, s.now-1, "")
		read(r1, s.now-2)
		s.call(nodescript.PassCall(l, r0, s.stamp(), ttl, pick(g, w0, w0, w1)))
		s.call(nodescript.ExtendCall(l, w0, T, s.stamp(), s.now+2_000_000, ttl, w))
		s.call(nodescript.ReleaseCall(l, w0, T))
		s.call(nodescript.ReleaseCall(l, r0, s.last))
	case 6: // a full memory
		downgrades := g.IntN(2) == 0
		if downgrades {
			s.acquire(w0, 0, "")
		} else {
			read(r0, 0)
		}
		s.add(g.memory(true, "noeviction"))
		if downgrades {
			s.call(nodescript.PassCall(l, r0, s.stamp(), ttl, w0))
		}
		for range 3 {
			s.add(pick(g, g.acquireShared, g.extendShared, g.releaseShared)())
		}
		s.add(g.memory(false, "noeviction"))
	}
	g.then = s.ops[1:]
	return s.ops[0]
}
