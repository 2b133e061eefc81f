//go:build linux

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// id returns the id of server i of a cluster that exists in name only.
func id(i int) string { return fmt.Sprintf("%040x", 0xabc000+i) }

// topology returns an answer to CLUSTER NODES by server self of some masters. Half of the servers are replicas.
func topology(self int, addrs []string) string {
	masters := (len(addrs) + 1) / 2
	var b strings.Builder
	for i, addr := range addrs {
		_, port, _ := strings.Cut(addr, ":")
		flags, master, slots := "master", "-", ""
		if i < masters {
			slots = fmt.Sprintf(" %d-%d", i*node.Slots/masters, (i+1)*node.Slots/masters-1)
		} else {
			flags, master = "slave", id(i-masters)
		}
		if i == self {
			flags = "myself," + flags
		}
		fmt.Fprintf(&b, "%s %s@1%s %s %s 0 1700000000000 %d connected%s\n", id(i), addr, port[1:], flags, master, i+1, slots)
	}
	return b.String()
}

// answerCost returns the CPU of a server for an answer to CLUSTER NODES that lists so many servers. The other servers
// do not exist.
func answerCost(t *testing.T, servers int) float64 {
	t.Helper()
	addrs := make([]string, servers)
	for i := range addrs {
		addrs[i] = fmt.Sprintf("127.0.0.1:%d", 10000+i)
	}
	file := filepath.Join(t.TempDir(), "nodes.conf")
	text := topology(0, addrs) + fmt.Sprintf("vars currentEpoch %d lastVoteEpoch 0\n", servers)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// A long time, so that the server does not look for the others again and again.
	s := redistest.Start(t, redistest.Args("--cluster-enabled", "yes", "--cluster-config-file", file,
		"--cluster-port", strconv.Itoa(freePort(t)), "--cluster-node-timeout", "600000"))
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true})
	defer c.Close()
	const n = 1000
	rest := func() float64 { // each second, without questions
		before := tallyOf(t, s)
		time.Sleep(2 * time.Second)
		d, seconds := tallyOf(t, s).since(before)
		return d.CPU / seconds
	}()
	best := cheapest(shortRepeats, func() slice {
		before := tallyOf(t, s)
		for range n {
			if err := c.Do(t.Context(), "CLUSTER", "NODES").Err(); err != nil {
				t.Fatal(err)
			}
		}
		d, seconds := tallyOf(t, s).since(before)
		return slice{tally: d, seconds: seconds, n: n}
	})
	return (best.tally.CPU - best.seconds*rest) / n
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// fake starts a cluster that only answers CLUSTER NODES, and returns its URL.
func fake(t *testing.T, servers int) string {
	t.Helper()
	addrs := make([]string, servers)
	listeners := make([]net.Listener, servers)
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		addrs[i], listeners[i] = l.Addr().String(), l
	}
	for i, l := range listeners {
		go func() {
			text := topology(i, addrs)
			answer := fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go serve(conn, answer)
			}
		}()
	}
	return "redis+cluster://" + addrs[0]
}

// serve gives the answer to each command of two words.
func serve(conn net.Conn, answer []byte) {
	defer conn.Close()
	for lines, n := bufio.NewScanner(conn), 1; lines.Scan(); n++ {
		if n%5 == 0 { // *2, $7, CLUSTER, $5, NODES
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}
}

// roundCost returns the CPU of a client for an answer of a cluster with so many servers.
func roundCost(t *testing.T, servers int) float64 {
	t.Helper()
	p := startWorker(t, role{URL: fake(t, servers), TTL: measureTTL})
	p.do("rounds", 2, 0)
	const n = 40
	best := cheapest(shortRepeats, func() slice { return slice{usage: p.do("rounds", n, 0), n: n} })
	return best.usage.CPU / n / min(float64(servers), 9)
}

// measureTopology measures the questions for the topology.
func measureTopology(t *testing.T, k *Constants) {
	k.ServerNodes, k.ServerNodesPer = line([2]float64{6, 200}, [2]float64{answerCost(t, 6), answerCost(t, 200)})
	x := [3]float64{9, 150, 400}
	y := [3]float64{roundCost(t, 9), roundCost(t, 150), roundCost(t, 400)}
	k.ClientAnswer, k.ClientListed, k.ClientListed2 = curve(x, y)
}
