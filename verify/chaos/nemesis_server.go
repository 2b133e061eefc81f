//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// serverKinds are faults of server processes.

var serverKinds = []kind{
	{name: "server killed, empty again", forgets: true, begin: onProcesses(killed(emptied))},
	{name: "server killed, AOF cut back", forgets: true, begin: onProcesses(killed(cutBack))},
	{name: "server killed, back to a snapshot", forgets: true, begin: onProcesses(killed(snapshot))},
	{name: "server frozen", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) (took bool) {
		n.server.Freeze()
		time.Sleep(between(r, 300*time.Millisecond, 4*time.Second))
		n.server.Thaw()
		return true
	})},
	{name: "replica promoted in its place", forgets: true, begin: onProcesses(promoted)},
	{name: "CLIENT PAUSE", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) (took bool) {
		d := between(r, 200*time.Millisecond, 2500*time.Millisecond)
		took = a.do(n.server, "CLIENT", "PAUSE", d.Milliseconds(), []string{"ALL", "WRITE"}[r.IntN(2)]) != nil
		time.Sleep(d + 50*time.Millisecond)
		return took
	})},
	{name: "CLIENT KILL, callers", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) (took bool) {
		for range 1 + r.IntN(5) {
			killed, _ := a.do(n.server, "CLIENT", "KILL", "TYPE", "normal").(int64)
			took = took || killed > 0
			time.Sleep(between(r, 0, 200*time.Millisecond))
		}
		return took
	})},
	{name: "CLIENT KILL, listeners", begin: onProcesses(func(a *arena, r *rand.Rand, n *node) (took bool) {
		for range 1 + r.IntN(5) {
			killed, _ := a.do(n.server, "CLIENT", "KILL", "TYPE", "pubsub").(int64)
			took = took || killed > 0
			time.Sleep(between(r, 0, 200*time.Millisecond))
		}
		return took
	})},
}

// onProcesses makes a fault of the server processes of one or more nodes, all at the same time.
func onProcesses(f func(*arena, *rand.Rand, *node) bool) func(*arena, *rand.Rand) *deed {
	return func(a *arena, r *rand.Rand) *deed {
		taken := a.take(r, a.howMany(r), processPart)
		if taken == nil {
			return nil
		}
		seeds := map[*node]uint64{}
		for _, n := range taken {
			seeds[n] = r.Uint64()
		}
		return &deed{taken, func() bool {
			defer a.release(taken, processPart)
			return each(taken, func(n *node) bool { return f(a, rand.New(rand.NewPCG(seeds[n], 0)), n) })
		}}
	}
}

// killed makes a fault that kills a server. It starts the server again from the files that back left. The fault had an
// effect if back changed the files as intended.
func killed(back func(r *rand.Rand, s *redistest.Server, kill func()) (args []string, did bool)) func(*arena, *rand.Rand, *node) bool {
	return func(a *arena, r *rand.Rand, n *node) bool {
		args, did := back(r, n.server, n.server.Kill)
		if r.IntN(2) == 0 {
			time.Sleep(between(r, 0, 3*time.Second))
		}
		n.server.RestartWith(args...)
		if !slices.Equal(args, serverArgs) {
			a.do(n.server, "CONFIG", "SET", "appendonly", "yes")
		}
		return did
	}
}

func aofDir(s *redistest.Server) string { return filepath.Join(s.Dir(), "appendonlydir") }
func dump(s *redistest.Server) string   { return filepath.Join(s.Dir(), "dump.rdb") }

func emptied(_ *rand.Rand, s *redistest.Server, kill func()) (args []string, did bool) {
	kill()
	_ = os.RemoveAll(aofDir(s))
	_ = os.Remove(dump(s))
	return serverArgs, true
}

// cutBack leaves the data that was on disk some time before, as a power failure does.
func cutBack(r *rand.Rand, s *redistest.Server, kill func()) (args []string, did bool) {
	path, before := growingAOF(s)
	time.Sleep(between(r, 100*time.Millisecond, 1500*time.Millisecond))
	kill()
	if last, now := growingAOF(s); last == path && now > before {
		did = os.Truncate(path, before+r.Int64N(now-before)) == nil
	}
	return serverArgs, did
}

// growingAOF returns the file to which the server appends, and its length.
func growingAOF(s *redistest.Server) (path string, size int64) {
	list, _ := filepath.Glob(filepath.Join(aofDir(s), "*.incr.aof"))
	slices.SortFunc(list, func(a, b string) int { return len(a) - len(b) })
	if len(list) == 0 {
		return "", 0
	}
	path = list[len(list)-1]
	if i, err := os.Stat(path); err == nil {
		size = i.Size()
	}
	return path, size
}

// snapshot leaves an RDB file from some time before.
func snapshot(r *rand.Rand, s *redistest.Server, kill func()) (args []string, did bool) {
	_, _ = s.Do("SAVE") // fails while the AOF is rewritten; the server then loads an older snapshot, or none
	time.Sleep(between(r, 100*time.Millisecond, 3*time.Second))
	kill()
	_ = os.RemoveAll(aofDir(s))
	_, err := os.Stat(dump(s))
	return append(slices.Clone(serverArgs), "--appendonly", "no"), err == nil
}

// promoted replaces a node's server by a replica, as a failover does. The replica has the data that it had received. In
// half of the cases the former server later replaces the replica in the same way.
func promoted(a *arena, r *rand.Rand, n *node) bool {
	old, fresh := n.server, startServer(a.t)
	fresh.Step(n.skew)
	if !a.follow(fresh, old) {
		fresh.Kill()
		return false
	}
	a.replace(r, n, fresh)
	if r.IntN(2) == 0 {
		time.Sleep(between(r, 0, 2*time.Second))
		if a.follow(old, fresh) {
			a.replace(r, n, old)
			time.Sleep(100 * time.Millisecond)
			fresh.Kill()
			return true
		}
	}
	time.Sleep(100 * time.Millisecond)
	old.Kill()
	return true
}

// follow makes s a replica of master and waits until s has the data.
func (a *arena) follow(s, master *redistest.Server) bool {
	a.do(s, "REPLICAOF", "127.0.0.1", fmt.Sprint(master.Port()))
	for range 200 {
		if info, _ := a.do(s, "INFO", "replication").(string); strings.Contains(info, "master_link_status:up") {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// replace promotes a replica and puts it in the node's place. In half of the cases the replica stops following its
// master some time before.
func (a *arena) replace(r *rand.Rand, n *node, s *redistest.Server) {
	a.do(s, "REPLICAOF", "NO", "ONE")
	if r.IntN(2) == 0 {
		time.Sleep(between(r, 0, 1500*time.Millisecond))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n.replace(s)
}
