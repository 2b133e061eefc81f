package nodemodel

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// story draws a few operations that belong together and would rarely meet by chance. It returns the first. The others
// come next.
func (g *generator) story() operation {
	l := nodescript.Lock{Name: pick(g, names...)}
	w, now, key := time.Duration(W)*time.Microsecond, g.w.now, nodescript.RecordKey(l.Name)
	owner, other := owners[0], owners[1]
	admit := func(config int, us int64) operation { return g.asks(config, us, true) }
	var ops []operation
	switch g.IntN(8) {
	case 7: // a request from before a loss comes after it, or twice, while the clock is back
		config, lost := g.home, now+1_000_000*(1+g.Int64N(9))
		again := g.asks(config, now, g.IntN(2) == 0)
		ops = []operation{admit(config, now), g.remember(), g.clock(lost), pick(g, g.flush(), g.del(nodescript.GuardKey), g.evict(key)), pick(g, again, g.stale(now)),
			g.clock(now), pick(g, again, g.stale(now)), g.clock(lost), admit(config, lost), g.clock(now), pick(g, again, g.stale(now)), g.clock(lost)}
	case 6: // a voucher that comes late
		ops = []operation{admit(g.home, now), admit(2, now), g.vouch(2, false), g.del(nodescript.GuardKey), pick(g, g.vouch(2, true), admit(2, now)), admit(2, now), admit(2, now),
			g.vouch(g.home, true), g.clock(now + 100_000), admit(g.home, now+100_000), admit(g.home, now+100_000)}
	case 0: // an ended owner's plain key still exists, or a foreign one with a long value
		r := nodescript.Record{Seen: inRange(now - 3*W), Token: inRange(now - 3*W), Expiry: inRange(now - g.Int64N(2)), Owner: owner}
		ops = []operation{
			g.set(key, r.String(), time.Hour), g.set(l.Name, pick(g, owner, strings.Repeat("f", 300)), time.Minute),
			g.script(g.home, pick(g, nodescript.AcquireCall(l, other, inRange(now), 3*time.Second),
				nodescript.ExtendCall(l, other, inRange(now-W), inRange(now), inRange(now+1), 3*time.Second, w))),
		}
	case 1: // a guard is due to expire; sometimes more keys than the guard are missing
		later := now + hour + 1000 + g.Int64N(11_000_000)
		ops = []operation{admit(g.home, now), g.clock(later)}
		if g.IntN(2) == 0 {
			ops = append(ops, g.del(pick(g, nodescript.KeptKey, nodescript.AdmissionKey)))
		}
		ops = append(ops, admit(g.home, later))
	case 2: // a voucher, and a client that it does not cover
		ops = []operation{admit(g.home, now), g.trust(), admit(pick(g, 2, 1-g.home%2), now), admit(g.home, now)}
	case 3: // a lease lives on in a full memory
		l.Private = g.IntN(2) == 0
		ops = []operation{
			g.script(g.home, nodescript.AcquireCall(l, owner, inRange(now), 3*time.Second)), g.memory(true, "noeviction"),
			g.script(g.home, nodescript.ExtendCall(l, owner, inRange(now), inRange(now+1), inRange(now+1), 3*time.Second, w)),
			g.script(g.home, nodescript.ReleaseCall(l, pick(g, owner, other), inRange(now))), g.memory(false, "noeviction"),
		}
	case 5: // a record is evicted, but the guard is not
		c := pick(g, nodescript.AcquireCall(l, other, inRange(now+2), 3*time.Second),
			nodescript.ExtendCall(l, other, inRange(now-W), inRange(now), inRange(now+W), 3*time.Second, w),
			nodescript.AbortCall(l, other, inRange(now+1)))
		ops = []operation{
			admit(g.home, now), g.script(g.home, nodescript.AcquireCall(l, owner, inRange(now), 3*time.Second)), g.evict(key), g.del(l.Name),
			g.script(g.home, c), g.script(g.home, nodescript.AcquireCall(l, other, inRange(now+3), 3*time.Second)),
		}
		if g.IntN(2) == 0 {
			ops[4] = g.together()
		}
	case 4: // a claim meets its owner or another one
		r := nodescript.Record{Seen: inRange(now - W), Expiry: inRange(now + 1_000_000), Owner: owner}
		o := pick(g, owner, other)
		ops = []operation{
			g.set(key, r.String(), time.Hour), g.del(l.Name),
			g.script(g.home, pick(g, nodescript.AcquireCall(l, o, inRange(now), 3*time.Second),
				nodescript.ExtendCall(l, o, inRange(now), inRange(now), inRange(now), 3*time.Second, w))),
		}
	}
	g.then = ops[1:]
	return ops[0]
}

// trust draws a voucher, usually for the node's present challenge or mark.
func (g *generator) trust() operation {
	return g.vouch(pick(g, g.home, g.home, g.IntN(len(configs))), g.IntN(5) == 0)
}

// vouchTwice draws a voucher for a quarantine, and the same voucher again after its use.
func (g *generator) vouchTwice() operation {
	now := g.w.now
	g.then = []operation{
		g.vouch(g.home, false), g.asks(g.home, now, true), g.clock(now + 1000), g.vouch(g.home, false), g.asks(g.home, now+1000, true),
	}
	return g.asks(g.home, now, true)
}

// vouch draws a voucher for the challenge or mark that the node would answer to a configuration, or for a remembered
// one.
func (g *generator) vouch(config int, late bool) operation {
	return operation{say: fmt.Sprintf("trust%d late=%t", config, late), do: func(w *world) (string, string) {
		if w.model.Full && strings.HasPrefix(w.model.Info.Version, "Valkey") {
			return "", ""
		}
		if a, _ := w.model.remembered(); !late {
			w.names = a.challenge
			if a.config != configs[config].String() {
				guard, _, _ := w.model.text(nodescript.GuardKey)
				w.names = w.model.mark(a, guard)
			}
		}
		return w.trust(config, w.names)
	}}
}

// asks draws a request for a vote, with the node's challenge or without one.
func (g *generator) asks(config int, us int64, answers bool) operation {
	var named []string // the epoch under which the client's Sentinels name the server
	if g.IntN(8) == 0 {
		named = []string{pick(g, nodescript.Micros(1), nodescript.Micros(2), ""), pick(g, "", "F"), "", ""}
		if g.IntN(2) == 0 { // the client met another master
			named[2], named[3] = nodescript.Micros(pick(g, g.Int64N(1000), g.Int64N(5_000_000), g.Int64N(40_000_000))), pick(g, "another", g.w.model.Info.Run)
		}
	}
	return operation{say: fmt.Sprintf("admit%d %d answers=%t named %q", config, us, answers, named), do: func(w *world) (string, string) {
		w.named = named
		defer func() { w.named = nil }()
		challenge := ""
		if answers {
			challenge = w.challenge()
		}
		return w.ask(config, us, challenge)
	}}
}

// remember notes the challenge. stale asks with it.
func (g *generator) remember() operation {
	return operation{say: "remember", do: func(w *world) (string, string) { w.names = w.challenge(); return "", "" }}
}

func (g *generator) stale(us int64) operation {
	config := g.home
	return operation{say: fmt.Sprintf("admit%d %d late", config, us), do: func(w *world) (string, string) { return w.ask(config, us, w.names) }}
}
