package nodemodel

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// story draws a few operations that belong together and would seldom meet by chance.
// The first is returned, the others come next.
func (g *generator) story() operation {
	l := nodescript.Lock{Name: pick(g, names...)}
	w, now, key := time.Duration(W)*time.Microsecond, g.w.now, nodescript.RecordKey(l.Name)
	owner, other := owners[0], owners[1]
	admit := func(config int, us int64) operation {
		return operation{say: fmt.Sprintf("admit%d %d", config, us), do: func(w *world) (string, string) { return w.admit(config, us) }}
	}
	var ops []operation
	switch g.IntN(6) {
	case 0: // an owner is over, its plain key is still there
		r := nodescript.Record{Seen: inRange(now - 3*W), Token: inRange(now - 3*W), Expiry: inRange(now - g.Int64N(2)), Owner: owner}
		ops = []operation{
			g.set(key, r.String(), time.Hour), g.set(l.Name, owner, time.Minute),
			g.script(g.home, pick(g, nodescript.AcquireCall(l, other, inRange(now), 3*time.Second),
				nodescript.ExtendCall(l, other, inRange(now-W), inRange(now), inRange(now+1), 3*time.Second, w))),
		}
	case 1: // a guard is due to expire; sometimes more is gone than the guard
		later := now + hour + 1000 + g.Int64N(11_000_000)
		ops = []operation{admit(g.home, now), g.clock(later)}
		if g.IntN(2) == 0 {
			ops = append(ops, g.del(pick(g, nodescript.KeptKey, nodescript.AdmissionKey)))
		}
		ops = append(ops, admit(g.home, later))
	case 2: // a voucher, and somebody whom it is not for
		ops = []operation{admit(g.home, now), g.trust(), admit(pick(g, 2, 1-g.home%2), now), admit(g.home, now)}
	case 3: // a lease lives on in a full memory
		l.Private = g.IntN(2) == 0
		ops = []operation{
			g.script(g.home, nodescript.AcquireCall(l, owner, inRange(now), 3*time.Second)), g.memory(true, "noeviction"),
			g.script(g.home, nodescript.ExtendCall(l, owner, inRange(now), inRange(now+1), inRange(now+1), 3*time.Second, w)),
			g.script(g.home, nodescript.ReleaseCall(l, pick(g, owner, other), inRange(now))), g.memory(false, "noeviction"),
		}
	case 5: // a record is evicted, and the guard is not
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
	case 4: // a claim meets the one it is for, or another
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

// trust is a voucher: for whatever configuration the node has, or for a certain one.
func (g *generator) trust() operation {
	named := pick(g, "", "", " "+configs[0].String(), " "+configs[1].String(), " "+configs[2].String())
	return operation{say: "trust", do: func(w *world) (string, string) {
		if !w.model.Full {
			w.wire.must("SET", nodescript.TrustKey, w.model.Info.Run+named, "PX", "60000")
			w.model.Set(nodescript.TrustKey, w.model.Info.Run+named, time.Minute)
		}
		return "", ""
	}}
}
