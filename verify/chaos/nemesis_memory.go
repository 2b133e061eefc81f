//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// memoryKinds are faults of servers' memory.

var memoryKinds = []kind{
	{name: "FLUSHALL", forgets: true, begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) bool { return a.do(n.server, "FLUSHALL") != nil })},
	{name: "SCRIPT FLUSH", begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) bool { return a.do(n.server, "SCRIPT", "FLUSH") != nil })},
	{name: "everything evicted", forgets: true, begin: onProcesses(evicted)},
	{name: "memory full, noeviction", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) bool {
		before := a.stat(n.server, "errorstats", "errorstat_OOM:count=")
		a.do(n.server, "CONFIG", "SET", "maxmemory", "1")
		time.Sleep(between(r, 300*time.Millisecond, 3*time.Second))
		a.do(n.server, "CONFIG", "SET", "maxmemory", "0")
		return a.stat(n.server, "errorstats", "errorstat_OOM:count=") > before
	})},
	{name: "some keys evicted", forgets: true, begin: onProcesses(evictedInPart)},

	// A voucher is an operator's statement that no lock is alive.
	{name: "FLUSHALL and a false voucher", forgets: true, outside: true, ours: true, begin: onProcesses(func(a *arena, _ *rand.Rand, n *node) bool {
		flushed := a.do(n.server, "FLUSHALL") != nil
		info, _ := a.do(n.server, "INFO", "server").(string)
		_, run, _ := strings.Cut(info, "\nrun_id:")
		run, _, _ = strings.Cut(run, "\r")
		set := []any{"HSET", nodescript.AdmissionKey}
		for field, value := range nodescript.Served(run, 0) {
			set = append(set, field, value)
		}
		return flushed && a.do(n.server, set...) != nil
	})},
}

// stat returns a number of INFO, 0 if INFO does not contain it.
func (a *arena) stat(s *redistest.Server, section, name string) int {
	info, _ := a.do(s, "INFO", section).(string)
	_, rest, _ := strings.Cut(info, "\n"+name)
	text, _, _ := strings.Cut(rest, "\r")
	n, _ := strconv.Atoi(text)
	return n
}

func (a *arena) evictions(s *redistest.Server) int { return a.stat(s, "stats", "evicted_keys:") }

func evicted(a *arena, r *rand.Rand, n *node) bool {
	before := a.evictions(n.server)
	a.do(n.server, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1")
	for range 200 { // these commands make the server evict
		if gone, _ := n.server.Do("EXISTS", nodescript.GuardKey); gone == int64(0) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(between(r, 0, 2*time.Second))
	a.do(n.server, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	return a.evictions(n.server) > before
}

func evictedInPart(a *arena, r *rand.Rand, n *node) bool {
	policy := []string{"allkeys-random", "allkeys-lru", "volatile-lru", "volatile-ttl"}[r.IntN(4)]
	before, used := a.evictions(n.server), a.stat(n.server, "memory", "used_memory:")
	a.do(n.server, "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", fmt.Sprint(max(1, used-500)))
	time.Sleep(between(r, 0, 500*time.Millisecond))
	a.do(n.server, "CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	return a.evictions(n.server) > before
}
