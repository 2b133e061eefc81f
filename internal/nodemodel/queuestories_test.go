package nodemodel

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// scene is a new queue on a name: its holder, the first waiter, the second waiter, and the clock of the story.
type scene struct {
	g                     *generator
	l                     nodescript.Lock
	record, queue         string
	holder, first, second string
	now, last             int64 // last is the last stamp
	ops                   []operation
}

func (s *scene) add(ops ...operation) { s.ops = append(s.ops, ops...) }

// stamp returns a stamp above all others of the scene.
func (s *scene) stamp() int64 {
	s.last = inRange(max(s.now-W/2, s.last+1))
	return s.last
}

func (s *scene) call(c nodescript.Call) { s.add(s.g.script(s.g.home, c)) }

func (s *scene) acquire(owner string, ticket int64, from string) int64 {
	T, ttl := s.stamp(), 3*time.Second
	switch {
	case ticket != 0:
		s.call(nodescript.QueueCall(s.l, owner, T, ttl, inRange(ticket)))
	case from != "":
		s.call(nodescript.PassCall(s.l, owner, T, ttl, from))
	default:
		s.call(nodescript.AcquireCall(s.l, owner, T, ttl))
	}
	return T
}

func (s *scene) clock(us int64) {
	s.now = us
	s.add(s.g.clock(us))
}

// queued draws a holder and two waiters. The second waiter comes before the first.
func (g *generator) queued() (s *scene, T int64) {
	l := nodescript.Lock{Name: pick(g, names...), Private: g.IntN(4) == 0}
	record := nodescript.RecordKey(l.Name)
	order := g.Perm(len(owners))
	s = &scene{
		g: g, l: l, record: record, queue: queueKey(record), now: g.w.now, last: g.w.now - W/2,
		holder: owners[order[0]], first: owners[order[1]], second: owners[order[2]],
	}
	s.add(g.del(record), g.del(l.Name), g.del(s.queue))
	for _, o := range []string{s.first, s.second} {
		s.add(g.hears(nodescript.Inbox(client(o)), g.IntN(4) > 0))
	}
	T = s.acquire(s.holder, 0, "")
	s.acquire(s.second, s.now-pick[int64](g, 0, 0, 1, W), "")
	s.acquire(s.first, s.now-W, "")
	if g.IntN(4) == 0 { // an entry that is no owner comes before both
		s.add(g.hears(nodescript.Inbox("k"), true), g.zadd(s.queue, inRange(s.now-2*W), pick(g, intruders[:4]...)))
	}
	return s, T
}

// queueStory draws one of the events that waiters meet.
func (g *generator) queueStory() operation {
	if g.w.now > 8e15 {
		return g.story() // no time within the protocol's range lies ahead
	}
	s, T := g.queued()
	release := func(owner string, highest int64) { s.call(nodescript.ReleaseCall(s.l, owner, inRange(highest))) }
	again := func() { s.acquire(pick(g, s.first, s.first, s.second, s.holder), pick(g, 0, 0, s.now), "") }
	w := time.Duration(W) * time.Microsecond
	switch g.IntN(13) {
	case 0: // the name passes from one to the next
		release(s.holder, T)
		T = s.acquire(s.first, 0, "")
		release(s.first, T)
		release(s.second, s.acquire(s.second, s.now, ""))
	case 1: // a claim ends unused
		release(s.holder, T)
		s.clock(s.now + 1_000_000 + pick[int64](g, -1, 0, 1))
		again()
		again()
	case 2: // the lease ends, and another client asks
		s.clock(T + 3_000_000 + pick[int64](g, -1, 0, 0, 1))
		again()
		again()
	case 3: // a pass, by the right owner and by a wrong one
		T = s.acquire(pick(g, owners...), 0, pick(g, s.holder, s.holder, s.first))
		s.add(g.hears(nodescript.Inbox(client(s.first)), true))
		release(pick(g, s.holder, s.first, s.second), pick(g, T, T-1))
		again()
	case 4: // the key of the queue has another type
		s.add(g.del(s.queue), pick(g, g.hset(s.queue), g.set(s.queue, "none", time.Hour)))
		pick(g, func() { release(s.holder, T) }, func() { release(s.first, T+3) }, again, func() {
			s.call(nodescript.QuitCall(s.l, s.first))
		})()
		again()
	case 5: // a foreign plain key is in the way
		s.add(pick(g, g.set(s.l.Name, "foreign", pick[time.Duration](g, 0, time.Minute)), g.del(s.l.Name)), g.hset(s.l.Name))
		release(s.holder, T)
		s.clock(s.now + 3_000_000)
		again()
	case 6: // the memory is full
		s.add(g.memory(true, "noeviction"))
		pick(g, func() { release(s.holder, T) }, func() { s.clock(s.now + 3_000_000) })()
		again()
		again()
		s.add(g.memory(false, "noeviction"))
	case 7: // some waiters leave
		s.call(nodescript.QuitCall(s.l, pick(g, s.first, s.second, s.holder)))
		release(s.holder, T)
		again()
	case 8: // the clock is ahead at the release
		s.clock(s.now + configs[g.home].Quarantine().Microseconds() + pick[int64](g, -W, 0, 1, 2, hour/2))
		release(s.holder, T)
		s.clock(g.w.now)
		again()
	case 9: // a late release covers only grants from before it
		release(s.holder, pick(g, T, T-1))
		T = s.acquire(s.first, s.now, "")
		release(s.first, T-pick[int64](g, 0, 1))
		again()
	case 10: // a renewal brings the lease to a node where its owner waits
		s.clock(s.now + 3_000_000)
		s.call(nodescript.ExtendCall(s.l, s.first, s.last+1, s.now, s.now, 3*time.Second, w))
		release(s.first, s.last+1)
		again()
	case 11: // a claim is declined, in time or not
		release(s.holder, T)
		s.clock(s.now + pick[int64](g, 0, 999_999, 1_000_000, -1, -W, hour/2))
		s.call(nodescript.DeclineCall(s.l, pick(g, s.first, s.first, s.second)))
		s.clock(g.w.now)
		again()
	default: // a holder goes on, or leaves
		s.call(nodescript.ExtendCall(s.l, s.holder, T, s.stamp(), s.now, 3*time.Second, w))
		s.call(nodescript.LeaveCall(s.l, s.holder, T, s.now+500_000))
		release(s.holder, T)
		s.clock(s.now + 500_000)
		again()
		again()
	}
	g.then = s.ops[1:]
	return s.ops[0]
}
