package nodemodel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// write is a command of another program.
func (g *generator) write() operation {
	l := g.lock()
	key, now := nodescript.RecordKey(l.Name), g.w.now
	switch g.IntN(13) {
	case 0: // in the form of a hand-off
		r := nodescript.Record{Seen: inRange(now - 2*W), Expiry: inRange(now + 1_000_000), Owner: pick(g, owners...), Waiting: true}
		return g.set(key, r.String(), 2*time.Hour)
	case 1: // a record that never existed, with any tokens and any expiry
		r := nodescript.Record{
			Seen: pick(g, g.instant(l), g.stamp()), Token: pick(g, g.instant(l), g.stamp()), Expiry: pick(g, g.instant(l), inRange(now)),
			Owner: g.owner(l), Waiting: g.IntN(2) == 0,
		}
		return g.set(key, r.String(), pick[time.Duration](g, 0, time.Hour))
	case 2:
		return g.set(key, strings.Repeat("7", g.IntN(49)), time.Hour)
	case 9: // longer than a record, or as long as one
		r := nodescript.Record{Seen: g.stamp(), Token: g.stamp(), Expiry: g.instant(l), Owner: pick(g, intruders...)}
		return g.set(key, r.String(), 3*time.Second)
	case 3:
		return g.hset(key)
	case 4:
		return g.hset(l.Name)
	case 5:
		if r := g.record(l); r.Owner != "" && g.IntN(2) == 0 { // it outlived its record, because clocks moved
			return g.set(l.Name, r.Owner, time.Minute)
		}
		return g.set(l.Name, pick(g, "", "foreign", strings.Repeat("f", 300), g.owner(l)), pick[time.Duration](g, 0, time.Millisecond, 3*time.Second))
	case 6:
		text := pick(g, "redlock", pick(g, owners...))
		return operation{say: fmt.Sprintf("SET %q %q NX PX 3000", l.Name, text), do: func(w *world) (string, string) {
			real := w.wire.do("SET", l.Name, text, "NX", "PX", "3000")
			if w.model.Full {
				return told(real), "(OOM)"
			}
			return told(real), map[bool]string{true: "OK", false: "<nil>"}[w.model.SetNX(l.Name, text, 3*time.Second)]
		}}
	case 7: // a queue with other waiters
		return g.zadd(queueKey(key), g.ticket(), pick(g, pick(g, owners...), pick(g, intruders[:4]...), pick(g, intruders...)))
	case 8:
		if g.IntN(2) == 0 {
			return g.hset(queueKey(key))
		}
		return g.set(queueKey(key), "no queue", time.Hour)
	default:
		return g.del(pick(g, universe...))
	}
}

func (g *generator) del(key string) operation {
	return operation{say: fmt.Sprintf("DEL %q", key), do: func(w *world) (string, string) {
		real := w.wire.do("DEL", key)
		return told(real), map[bool]string{true: "1", false: "0"}[w.model.Del(key)]
	}}
}

func (g *generator) set(key, text string, ttl time.Duration) operation {
	return operation{say: fmt.Sprintf("SET %q %q PX %d", key, text, ttl.Milliseconds()), do: func(w *world) (string, string) {
		args := []string{"SET", key, text}
		if ttl > 0 {
			args = append(args, "PX", strconv.FormatInt(ttl.Milliseconds(), 10))
		}
		real := told(w.wire.do(args...))
		if w.model.Full {
			return real, "(OOM)"
		}
		w.model.Set(key, text, ttl)
		return real, "OK"
	}}
}

func (g *generator) zadd(key string, ticket int64, owner string) operation {
	return operation{say: fmt.Sprintf("ZADD %q NX %d %q", key, ticket, owner), do: func(w *world) (string, string) {
		real := told(w.wire.do("ZADD", key, "NX", nodescript.Micros(ticket), owner))
		if err := w.model.ZAdd(key, ticket, owner); err != nil {
			return real, said(node.Reply{Err: err})
		}
		return "", ""
	}}
}

func (g *generator) hset(key string) operation {
	return operation{say: fmt.Sprintf("HSET %q f 1", key), do: func(w *world) (string, string) {
		real := w.wire.do("HSET", key, "f", "1")
		if err, bad := real.(error); bad && w.model.Full {
			return told(err), "(OOM)"
		}
		if !w.model.HSet(key, "f", "1") {
			return told(real), "(WRONGTYPE)"
		}
		return "", ""
	}}
}
