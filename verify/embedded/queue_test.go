package embedded_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

var recordKey = nodescript.RecordKey(lock.Name)

// sameQueue compares the waiters on both servers, and the remaining lives of the queue and of the record.
func (p *pair) sameQueue(what string) {
	p.t.Helper()
	queue := recordKey + ":queue"
	a, b := p.both[0].ZRangeWithScores(ctx, queue, 0, -1), p.both[1].ZRangeWithScores(ctx, queue, 0, -1)
	if fmt.Sprint(a.Val()) != fmt.Sprint(b.Val()) || (a.Err() == nil) != (b.Err() == nil) {
		p.t.Errorf("%s: %v wait on embedded, %v on redis-server", what, a, b)
	}
	for _, key := range []string{recordKey, queue} {
		began := time.Now()
		a, b := p.both[0].PTTL(ctx, key).Val(), p.both[1].PTTL(ctx, key).Val()
		if (a - b).Abs() > slack+time.Since(began) {
			p.t.Errorf("%s: %q expires in %s on embedded, in %s on redis-server", what, key, a, b)
		}
	}
}

// handedOn makes both servers hand the name to owner. It fails the test unless both servers keep a claim for owner. A
// claim lasts for a second by a node's own clock, so the test does not compare its end exactly.
func (p *pair) handedOn(what string, c nodescript.Call, ok func(nodescript.Answer) bool, owner string, waiting bool, seen int64) {
	p.t.Helper()
	began := time.Now()
	p.answers(what, c, ok)
	for i, w := range p.both {
		v := w.view(p.t)
		r, apart := v.Record, slack+time.Since(began)
		if r.Owner != owner || r.Token != 0 || r.Waiting != waiting || r.Seen != seen || v.Plain != owner {
			p.t.Errorf("%s: node %d keeps %+v, plain %q", what, i, r, v.Plain)
		}
		if off := shared.Claim() - time.Duration(r.Expiry-now())*time.Microsecond; off < 0 || off > apart {
			p.t.Errorf("%s: node %d claims for %s less than a claim is", what, i, off)
		}
		if off := shared.Claim() - v.Left; off < 0 || off > apart {
			p.t.Errorf("%s: node %d keeps the plain key for %s", what, i, v.Left)
		}
	}
	p.sameQueue(what)
}

// answers fails the test unless both servers give this answer. It does not compare records with a claim.
func (p *pair) answers(what string, c nodescript.Call, ok func(nodescript.Answer) bool) {
	p.t.Helper()
	for i, w := range p.both {
		if a := w.call(c); !ok(a) {
			p.t.Errorf("%s: node %d says %+v", what, i, a)
		}
	}
}

func verdict(v nodescript.Verdict) func(nodescript.Answer) bool {
	return func(a nodescript.Answer) bool { return a.Verdict == v }
}

// inboxes returns subscriptions to a client's inbox on both servers.
func (p *pair) inboxes(client string) (subs [2]*redis.PubSub) {
	for i, w := range p.both {
		subs[i] = w.Subscribe(ctx, nodescript.Inbox(client))
		if _, err := subs[i].Receive(ctx); err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { _ = subs[i].Close() })
	}
	return subs
}

func (p *pair) told(what string, subs [2]*redis.PubSub, owner string, seen int64) {
	p.t.Helper()
	for i, s := range subs {
		m, err := s.ReceiveTimeout(ctx, 5*time.Second)
		if err != nil {
			p.t.Fatalf("%s: node %d told nobody: %v", what, i, err)
		}
		text := m.(*redis.Message).Payload
		if h, ok := nodescript.ParseHandoff(text); h.Owner != owner || h.Seen != seen || h.Lock.Name != lock.Name || h.Lock.Private || !ok {
			p.t.Errorf("%s: node %d told %q, want %s and %d of %s", what, i, text, owner, seen, lock.Name)
		}
	}
}

func TestQueueRunsAsOnRedis(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	redistest.Eventually(t, 20*time.Second, "both vote", func() bool {
		return p.both[0].admit(shared, now()).Verdict == nodescript.Done && p.both[1].admit(shared, now()).Verdict == nodescript.Done
	})
	const ann, bob, cid, dee = "web~a~1", "web~b~1", "web~c~1", "web~d~1"
	bobs, cids := p.inboxes("b"), p.inboxes("c") // dee has no subscription
	queue := func(owner string, T, ticket int64) nodescript.Call {
		return nodescript.QueueCall(lock, owner, T, ttl, ticket)
	}

	T := now()
	p.op("acquire", nodescript.Granted, nodescript.AcquireCall(lock, ann, T, ttl))
	p.op("the last joins first", nodescript.Held, queue(cid, now(), T+9))
	p.op("the dead one joins", nodescript.Held, queue(dee, now(), T+7))
	p.op("the first joins last", nodescript.Held, queue(bob, now(), T+8))
	p.op("a ticket is kept", nodescript.Held, queue(cid, now(), T+1))
	p.op("acquire repeated", nodescript.Granted, nodescript.AcquireCall(lock, ann, T, ttl))
	p.op("extend", nodescript.Extended, nodescript.ExtendCall(lock, ann, T, T+1, T+1e6, ttl, window))
	p.op("quit of who does not wait", nodescript.Done, nodescript.QuitCall(lock, ann))
	p.op("release of a waiter", nodescript.NotMine, nodescript.ReleaseCall(lock, "web~e~1", T))
	p.op("pass by a stranger", nodescript.Held, nodescript.PassCall(lock, "web~a~2", now(), ttl, bob))
	T = now()
	p.op("pass", nodescript.Granted, nodescript.PassCall(lock, "web~a~2", T, ttl, ann))

	p.handedOn("handed past the dead one", nodescript.ReleaseCall(lock, "web~a~2", T), verdict(nodescript.Done), bob, true, T+1)
	p.told("handed past the dead one", bobs, bob, T+1)
	p.answers("acquire what is claimed", queue(ann, now(), now()), func(a nodescript.Answer) bool {
		return a.Verdict == nodescript.Held && a.Claim && a.Owner == bob && a.Rank == 1
	})
	p.answers("quit", nodescript.QuitCall(lock, ann), verdict(nodescript.Done))
	T = now()
	p.op("the claim becomes a lease", nodescript.Granted, nodescript.AcquireCall(lock, bob, T, ttl))

	redistest.Eventually(t, 5*time.Second, "the holder is over", func() bool { return now() > T+ttl.Microseconds() })
	p.handedOn("handed on by who asked", nodescript.AcquireCall(lock, ann, now(), ttl), func(a nodescript.Answer) bool {
		return a.Verdict == nodescript.Held && a.Claim && a.Owner == cid && a.Rank == -1
	}, cid, false, T)
	p.told("handed on by who asked", cids, cid, T)
	S := now()
	p.op("the last claim becomes a lease", nodescript.Granted, nodescript.AcquireCall(lock, cid, S, ttl))
	p.op("all dead: a waiter", nodescript.Held, queue(dee, now(), S))
	p.op("all dead: release", nodescript.Done, nodescript.ReleaseCall(lock, cid, S))
	S = now()
	p.op("all dead: free", nodescript.Granted, nodescript.AcquireCall(lock, ann, S, ttl))

	p.op("one more waiter", nodescript.Held, queue(bob, now(), S))
	for _, w := range p.both {
		w.Set(ctx, lock.Name, "foreign", time.Minute)
	}
	p.op("release under a foreign key", nodescript.Done, nodescript.ReleaseCall(lock, ann, S))
	p.op("a foreign key while somebody waits", nodescript.Held, queue(bob, now(), S))
	for _, w := range p.both {
		w.Del(ctx, lock.Name, recordKey+":queue")
		w.Set(ctx, recordKey+":queue", "none", time.Minute)
	}
	p.op("release with a queue that is none", nodescript.NotMine, nodescript.ReleaseCall(lock, bob, S+20))
	for _, w := range p.both {
		for _, c := range []nodescript.Call{nodescript.QuitCall(lock, bob), queue(bob, now(), S)} {
			if a := w.call(c); a.Verdict != nodescript.Failed {
				t.Errorf("%s with a queue that is none: %+v", c.Op, a)
			}
		}
	}
	for _, w := range p.both {
		w.Set(ctx, recordKey, nodescript.Record{Seen: S + 21, Token: S + 21, Expiry: S + 2e6, Waiting: true, Owner: ann}.String(), time.Hour)
	}
	p.op("the name is given back all the same", nodescript.Done, nodescript.ReleaseCall(lock, ann, S+21))
}
