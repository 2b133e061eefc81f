package redistest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Cluster is a Redis Cluster of real processes. Its methods are safe for concurrent use. A test kills, freezes and
// restarts the servers themselves: see [Server.Kill], [Server.Freeze] and [Server.Restart]. A server that restarts keeps
// its id and its place in the cluster, and loses its data unless the cluster is [Durable].
type Cluster struct {
	t    testing.TB
	opts []Option

	mu      sync.Mutex
	servers []*Server
	ids     map[*Server]string
}

// StartCluster starts masters, and as many replicas of each as replicas says. The slots are divided evenly, in the order
// of [Cluster.Servers]. It returns when the cluster is settled: see [Cluster.Settled].
//
// The servers have the settings of redis.conf, except for a short [NodeTimeout]. So a cluster without a master for one
// slot serves none, and a master that gives its last slot away becomes a replica. [Args] changes both.
func StartCluster(t testing.TB, masters, replicas int, opts ...Option) *Cluster {
	t.Helper()
	inCluster := func(c *config) { c.cluster, c.timeout = true, usualTimeout }
	c := &Cluster{t: t, opts: append([]Option{inCluster}, opts...), ids: map[*Server]string{}}
	for _, s := range StartN(t, masters*(1+replicas), c.opts...) {
		c.add(s)
	}
	c.setNodeTimeout(usualTimeout)
	for i, s := range c.servers {
		s.MustDo(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		if i < masters {
			s.MustDo(t, "CLUSTER", "ADDSLOTSRANGE", i*Slots/masters, (i+1)*Slots/masters-1)
		}
		if i > 0 {
			c.meet(s, c.servers[0])
		}
	}
	c.awaitMembers()
	for i, s := range c.servers[masters:] {
		s.MustDo(t, "CLUSTER", "REPLICATE", c.ID(c.servers[i%masters]))
	}
	c.AwaitSettled()
	c.setNodeTimeout(c.servers[0].cfg.timeout)
	return c
}

// usualTimeout is the cluster-node-timeout of a cluster without [NodeTimeout].
const usualTimeout = 2 * time.Second

// setNodeTimeout sets the cluster-node-timeout of all servers until they restart. Servers with a long one send few pings,
// so such a cluster would need that long to settle for the first time.
func (c *Cluster) setNodeTimeout(d time.Duration) {
	c.t.Helper()
	for _, s := range c.servers {
		s.MustDo(c.t, "CONFIG", "SET", "cluster-node-timeout", d.Milliseconds())
	}
}

// clusterArguments returns the arguments of a server of a cluster.
func (s *Server) clusterArguments() []string {
	args := []string{
		"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(s.busPort), "--cluster-announce-ip", "127.0.0.1",
		"--cluster-node-timeout", strconv.FormatInt(s.cfg.timeout.Milliseconds(), 10), "--repl-diskless-sync-delay", "0",
	}
	if s.cfg.password != "" {
		args = append(args, "--masterauth", s.cfg.password)
	}
	return args
}

func (c *Cluster) add(s *Server) {
	c.t.Helper()
	id := s.MustDo(c.t, "CLUSTER", "MYID").(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers = append(c.servers, s)
	c.ids[s] = id
}

// meet makes a server join the cluster of another one.
func (c *Cluster) meet(s, other *Server) {
	c.t.Helper()
	s.MustDo(c.t, "CLUSTER", "MEET", "127.0.0.1", other.port, other.busPort)
}

// awaitMembers waits until each server that runs knows all others.
func (c *Cluster) awaitMembers() {
	c.t.Helper()
	n := len(c.Servers())
	Eventually(c.t, patience, "the servers of the cluster to know each other", func() bool {
		for _, v := range c.views() {
			if len(v) != n || slices.ContainsFunc(v, func(m member) bool { return !m.known }) {
				return false
			}
		}
		return true
	})
}

// Servers returns all servers: the first masters, the replicas of the first turn, and so on, and then the added ones.
// Server i was the first master of server i + masters.
func (c *Cluster) Servers() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.servers)
}

// Addrs returns the addresses of all servers (127.0.0.1:port).
func (c *Cluster) Addrs() (addrs []string) {
	for _, s := range c.Servers() {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// ID returns the id that a server has in the cluster.
func (c *Cluster) ID(s *Server) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[s]
}

// AddMaster starts a server, and adds it to the cluster as a master without slots. It returns when each server that runs
// knows it.
func (c *Cluster) AddMaster() *Server {
	c.t.Helper()
	known := c.running()
	if len(known) == 0 {
		c.t.Fatal("redistest: AddMaster: no server of the cluster runs")
	}
	s := Start(c.t, c.opts...)
	c.add(s)
	c.meet(s, known[0])
	c.awaitMembers()
	return s
}

// AddReplica starts a server, and adds it to the cluster as a replica. It returns when the cluster is settled.
func (c *Cluster) AddReplica(master *Server) *Server {
	c.t.Helper()
	s := c.AddMaster()
	s.MustDo(c.t, "CLUSTER", "REPLICATE", c.ID(master))
	c.AwaitSettled()
	return s
}

// running returns the servers that are not killed.
func (c *Cluster) running() []*Server {
	return slices.DeleteFunc(c.Servers(), func(s *Server) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.proc == nil
	})
}

// Log returns the end of what each server wrote.
func (c *Cluster) Log() string {
	var b strings.Builder
	for _, s := range c.Servers() {
		fmt.Fprintf(&b, "%s:\n%s\n", s.Addr(), tail(s.Log()))
	}
	return b.String()
}
