package nodemodel

import (
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// disaster is what seldom happens to a node, and must not break it.
func (g *generator) disaster() operation {
	set := func(say string, model func(*Node), command ...string) operation {
		return operation{say, func(w *world) (string, string) {
			w.wire.must(command...)
			model(w.model)
			return "", ""
		}}
	}
	switch p := g.IntN(100); {
	case p < 8:
		return set("FLUSHALL", (*Node).FlushAll, "FLUSHALL")
	case p < 16:
		return set("SCRIPT FLUSH", (*Node).ScriptFlush, "SCRIPT", "FLUSH")
	case p < 32:
		return operation{"trust", func(w *world) (string, string) {
			if w.model.Full {
				return "", ""
			}
			w.wire.must("SET", nodescript.TrustKey, w.model.Info.Run, "PX", "60000")
			w.model.Set(nodescript.TrustKey, w.model.Info.Run, time.Minute)
			return "", ""
		}}
	case p < 36:
		return g.set(nodescript.TrustKey, "another run", time.Hour)
	case p < 42:
		return g.set(nodescript.GuardKey, "another configuration", time.Hour)
	case p < 54: // a memory that is full, and keeps what it has
		full := g.IntN(3) == 0
		limit := map[bool]string{true: "1", false: "0"}[full]
		return set(fmt.Sprintf("full=%t", full), func(n *Node) {
			n.Full, n.Info.MaxMemory, n.Info.Policy = full, map[bool]int64{true: 1}[full], "noeviction"
		}, "CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", limit)
	case p < 62: // a policy that may delete locks; with room enough it does not
		policy := pick(g, "noeviction", "noeviction", "allkeys-lru")
		return set("policy "+policy, func(n *Node) {
			n.Full, n.Info.MaxMemory, n.Info.Policy = false, 1<<40, policy
		}, "CONFIG", "SET", "maxmemory", strconv.Itoa(1<<40), "maxmemory-policy", policy)
	case p < 82:
		return g.clock(max(1, g.w.now+pick(g, int64(1), -1)*pick(g, hour, 2*hour, 3*hour, hour/2)+g.Int64N(3)-1))
	case p < 90: // machines without a battery boot in 1970
		return g.clock(pick[int64](g, 1, 5_000_000, 999_999_999_999_999, start/10, 1e16, 2e16))
	case p < 92:
		return operation{"restart", func(w *world) (string, string) { w.restart(); return "", "" }}
	default:
		return g.clock(start)
	}
}
