package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// MasterName is the name that the Sentinels of a [Failover] have for the master.
const MasterName = "holdfast.test"

// Failover is a master with replicas, and Sentinels that promote one of them. All of them are real processes. The
// Sentinels are redis-server processes, too.
type Failover struct {
	t         testing.TB
	Servers   []*Server // the first one is the first master
	sentinels []*sentinel
	clients   []*client
}

type sentinel struct {
	port int
	dir  string
	proc *process
}

// These are the settings of the Sentinels. They are short, so that a test waits for seconds only. A busy machine may
// delay an answer of a living server for longer than downAfter: then Sentinel promotes a replica without need.
const (
	downAfter       = 700 * time.Millisecond
	failoverTimeout = 2 * time.Second
)

// StartFailover starts a master, replicas, and three Sentinels. It returns when the Sentinels know each other and the
// replicas. password is the password of the Sentinels, "" for none.
func StartFailover(t testing.TB, replicas int, password string, opts ...Option) *Failover {
	t.Helper()
	opts = append(opts, Args("--repl-diskless-sync-delay", "0"))
	f := &Failover{t: t, Servers: StartN(t, 1+replicas, opts...)}
	master := f.Servers[0]
	for _, r := range f.Servers[1:] {
		r.MustDo(t, "REPLICAOF", "127.0.0.1", master.Port())
	}
	Eventually(t, patience, "the replicas to be in sync", func() bool { return f.InSync() == replicas })
	for range 3 {
		f.startSentinel(master, password)
	}
	Eventually(t, patience, "the Sentinels to know each other", func() bool {
		for _, c := range f.clients {
			reply, _ := c.do(context.Background(), "SENTINEL", "MASTER", MasterName)
			m := fields(reply)
			if m["num-other-sentinels"] != "2" || m["num-slaves"] != strconv.Itoa(replicas) {
				return false
			}
		}
		return true
	})
	return f
}

func (f *Failover) startSentinel(master *Server, password string) {
	f.t.Helper()
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		f.t.Fatal(err)
	}
	s := &sentinel{port: freePort(), dir: dir}
	lines := []string{
		"bind 127.0.0.1", "port " + strconv.Itoa(s.port), "dir " + dir, "daemonize no",
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", MasterName, master.Port()),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", MasterName, downAfter.Milliseconds()),
		fmt.Sprintf("sentinel failover-timeout %s %d", MasterName, failoverTimeout.Milliseconds()),
		fmt.Sprintf("sentinel parallel-syncs %s 1", MasterName),
	}
	if password != "" { // the Sentinels use it among themselves, too
		lines = append(lines, "requirepass "+password, "sentinel sentinel-pass "+password)
	}
	conf := filepath.Join(dir, "sentinel.conf")
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if s.proc, err = spawn(filepath.Join(dir, "sentinel.log"), nil, program(), conf, "--sentinel"); err != nil {
		f.t.Fatal(err)
	}
	c := &client{network: "tcp", addr: s.addr(), password: password}
	f.t.Cleanup(func() {
		s.proc.kill()
		_ = os.RemoveAll(dir)
	})
	f.sentinels, f.clients = append(f.sentinels, s), append(f.clients, c)
	Eventually(f.t, patience, "a Sentinel to answer", func() bool {
		return c.text(context.Background(), "PING") == "PONG"
	})
}

func (s *sentinel) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// SentinelAddrs returns the addresses of the Sentinels.
func (f *Failover) SentinelAddrs() (addrs []string) {
	for _, s := range f.sentinels {
		addrs = append(addrs, s.addr())
	}
	return addrs
}

// URL returns the URL of the node, with parameters such as "?wait=1", or "".
func (f *Failover) URL(parameters string) string {
	return "redis+sentinel://" + strings.Join(f.SentinelAddrs(), ",") + "/" + MasterName + parameters
}

// Master returns the server that most Sentinels call the master and that is a master. It is nil if there is none now.
func (f *Failover) Master() *Server {
	named := map[string]int{}
	for _, c := range f.clients {
		reply, _ := c.do(context.Background(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName)
		if a, _ := reply.([]any); len(a) == 2 {
			named[fmt.Sprint(a[1])]++
		}
	}
	for _, s := range f.Servers {
		if named[strconv.Itoa(s.Port())] > len(f.clients)/2 && s.info("role") == "master" {
			return s
		}
	}
	return nil
}

// Failover makes the Sentinels promote a replica although the master lives.
func (f *Failover) Failover() error {
	_, err := f.clients[0].do(context.Background(), "SENTINEL", "FAILOVER", MasterName)
	return err
}

// Ready reports whether most Sentinels could promote the replica that they know: they reach it, and have its INFO.
func (f *Failover) Ready() bool {
	ready := 0
	for _, c := range f.clients {
		reply, _ := c.do(context.Background(), "SENTINEL", "REPLICAS", MasterName)
		if replicas, _ := reply.([]any); len(replicas) == 1 {
			if r := fields(replicas[0]); r["flags"] == "slave" && r["info-refresh"] != "0" {
				ready++
			}
		}
	}
	return ready > len(f.clients)/2
}

// Monitor makes the Sentinels name another server as the master. They do nothing to the former one.
func (f *Failover) Monitor(s *Server) {
	f.t.Helper()
	for _, c := range f.clients {
		ctx := context.Background()
		_, removed := c.do(ctx, "SENTINEL", "REMOVE", MasterName)
		_, monitored := c.do(ctx, "SENTINEL", "MONITOR", MasterName, "127.0.0.1", s.Port(), 2)
		if err := errors.Join(removed, monitored); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Log returns the end of what each Sentinel wrote.
func (f *Failover) Log() (text string) {
	for _, s := range f.sentinels {
		b, _ := os.ReadFile(filepath.Join(s.dir, "sentinel.log"))
		text += tail(string(b)) + "\n"
	}
	return text
}

// InSync returns the number of servers that are replicas and have all data of their master.
func (f *Failover) InSync() (n int) {
	for _, s := range f.Servers {
		if s.info("role") == "slave" && s.info("master_link_status") == "up" {
			n++
		}
	}
	return n
}

// ReplicationID returns the server's replication id, "" if the server does not answer soon. A server that becomes a
// replica, or that is promoted, gets another id.
func (s *Server) ReplicationID() string { return s.info("master_replid") }

// Role returns "master" or "slave", "" if the server does not answer soon.
func (s *Server) Role() string { return s.info("role") }

// Replicas returns the number of the server's replicas that have all data and get every write.
func (s *Server) Replicas() int { return strings.Count(s.replication(), "state=online") }

// info returns a field of INFO replication, "" if the server does not answer soon.
func (s *Server) info(field string) string {
	_, rest, _ := strings.Cut(s.replication(), "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}

// replication returns INFO replication, "" if the server does not answer soon.
func (s *Server) replication() string {
	s.mu.Lock()
	c := s.client
	s.mu.Unlock()
	if c == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second/4)
	defer cancel()
	return c.text(ctx, "INFO", "replication")
}
