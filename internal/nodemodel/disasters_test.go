package nodemodel

import (
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// disaster draws an event that is rare on a node and must not break it.
func (g *generator) disaster() operation {
	set := func(say string, model func(*Node), command ...string) operation {
		return operation{say: say, do: func(w *world) (string, string) {
			w.both(model, command...)
			return "", ""
		}}
	}
	switch p := g.IntN(100); {
	case p < 8:
		return g.flush()
	case p < 16:
		return set("SCRIPT FLUSH", (*Node).ScriptFlush, "SCRIPT", "FLUSH")
	case p < 32:
		return g.trust()
	case p < 36:
		return g.set(nodescript.TrustKey, "another run", time.Hour)
	case p < 42:
		return g.set(nodescript.GuardKey, "another configuration", time.Hour)
	case p < 44:
		return g.evict(pick(g, universe...))
	case p < 54: // a full memory that keeps its keys
		return g.memory(true, "noeviction")
	case p < 62: // with enough room no key is deleted, but keys could be
		return g.memory(false, "allkeys-lru")
	case p < 82:
		return g.clock(max(1, g.w.now+pick(g, int64(1), -1)*pick(g, hour, 2*hour, 3*hour, hour/2)+g.Int64N(3)-1))
	case p < 90: // machines without a battery boot in 1970
		return g.clock(pick[int64](g, 1, 5_000_000, 999_999_999_999_999, start/10, 1e16, 2e16))
	case p < 91 || p < 95 && g.w.data:
		return operation{say: "restart", do: func(w *world) (string, string) {
			if w.now > start/2 { // Redis 7.0 crashes when it starts in 1970
				w.restart()
			}
			return "", ""
		}}
	default:
		return g.clock(start)
	}
}

func (g *generator) flush() operation {
	return operation{say: "FLUSHALL", do: func(w *world) (string, string) {
		w.wire.must("FLUSHALL")
		w.model.FlushAll()
		return "", ""
	}}
}

// evict makes the server evict keys for a moment. It evicts a large victim key and, so that the test knows the evicted
// key, key.
func (g *generator) evict(key string) operation {
	return operation{say: "evict " + key, do: func(w *world) (string, string) {
		if w.model.Full || w.model.Info.Policy != "noeviction" {
			return "", ""
		}
		w.evictsOne()
		w.wire.must("DEL", key)
		w.model.Del(key)
		return "", ""
	}}
}

// memory sets the size of the memory and the policy for a full memory.
func (g *generator) memory(full bool, policy string) operation {
	limit := int64(1 << 40)
	if full {
		limit = 1
	}
	return operation{say: fmt.Sprintf("full=%t policy=%s", full, policy), do: func(w *world) (string, string) {
		// The policy is set before the limit. Otherwise a full memory would delete keys between the two commands.
		w.wire.must("CONFIG", "SET", "maxmemory", "0")
		w.wire.must("CONFIG", "SET", "maxmemory-policy", policy)
		w.wire.must("CONFIG", "SET", "maxmemory", strconv.FormatInt(limit, 10))
		w.model.Full, w.model.Info.MaxMemory, w.model.Info.Policy, w.model.Info.Ran = full, limit, policy, true
		return "", ""
	}}
}
