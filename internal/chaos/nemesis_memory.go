//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/nodescript"
)

// Faults of what servers remember.

var memoryKinds = []kind{
	{name: "FLUSHALL", forgets: true, begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) { a.do(n.server, "FLUSHALL") })},
	{name: "SCRIPT FLUSH", begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) { a.do(n.server, "SCRIPT", "FLUSH") })},
	{name: "everything evicted", forgets: true, begin: onProcesses(evicted)},
	{name: "memory full, noeviction", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) {
		a.do(n.server, "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(between(r, 300*time.Millisecond, 3*time.Second))
		a.do(n.server, "CONFIG", "SET", "maxmemory", "0")
	})},
	{name: "some keys evicted", forgets: true, begin: onProcesses(evictedInPart)},

	// A voucher is an operator's word that no lock is alive.
	{name: "FLUSHALL and a false voucher", forgets: true, outside: true, ours: true, begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) {
		a.do(n.server, "FLUSHALL")
		a.do(n.server, "EVAL", `return redis.call('SET', KEYS[1], string.match(redis.call('INFO', 'server'), '\nrun_id:([^\r\n]*)'))`, 1, nodescript.TrustKey)
	})},
}

func evicted(a *arena, r *rand.Rand, n *node) {
	a.do(n.server, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1")
	for range 200 { // commands make the server evict
		if gone, _ := n.server.Do("EXISTS", nodescript.GuardKey); gone == int64(0) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(between(r, 0, 2*time.Second))
	a.do(n.server, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
}

func evictedInPart(a *arena, r *rand.Rand, n *node) {
	policy := []string{"allkeys-random", "allkeys-lru", "volatile-lru", "volatile-ttl"}[r.IntN(4)]
	used := 0
	info, _ := a.do(n.server, "INFO", "memory").(string)
	if _, rest, ok := strings.Cut(info, "\nused_memory:"); ok {
		text, _, _ := strings.Cut(rest, "\r")
		used, _ = strconv.Atoi(text)
	}
	a.do(n.server, "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", fmt.Sprint(max(1, used-500)))
	time.Sleep(between(r, 0, 500*time.Millisecond))
	a.do(n.server, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
}
