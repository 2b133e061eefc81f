package nodetest

import (
	"crypto/tls"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// Access says how a driver reaches a Redis Cluster.
type Access struct {
	Seeds          []string // host:port
	User, Password string
	TLS            *tls.Config // nil: without TLS
	Wait           int         // the number of replicas that must have a grant
}

// OpenCluster makes a cluster of the driver. It must not use the network. The suite closes the cluster.
type OpenCluster func(t *testing.T, a Access) node.Cluster

// RunCluster tests the clusters of a driver, with servers of their own.
func RunCluster(t *testing.T, open OpenCluster) {
	s := clusters{open}
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"ShardsAreFound", s.shardsAreFound},
		{"OneSeedIsEnough", s.oneSeedIsEnough},
		{"PasswordAndTLS", s.passwordAndTLS},
		{"WhatIsNoClusterIsRefused", s.whatIsNoClusterIsRefused},
		{"AClosedClusterAnswersNothing", s.aClosedClusterAnswersNothing},

		{"AShardFollowsAFailoverOnRequest", s.aShardFollowsAFailoverOnRequest},
		{"AShardFollowsAFailoverOfAKilledMaster", s.aShardFollowsAFailoverOfAKilledMaster},
		{"AFormerMasterThatComesBackGetsNoCall", s.aFormerMasterThatComesBackGetsNoCall},
		{"AWitnessThatFailsCostsNothing", s.aWitnessThatFailsCostsNothing},

		{"ACallForAMovedSlotIsNotSent", s.aCallForAMovedSlotIsNotSent},
		{"AMovedReplyReachesItsCaller", s.aMovedReplyReachesItsCaller},
		{"ARedirectionIsNotFollowed", s.aRedirectionIsNotFollowed},
		{"AShardedSubscriptionEndsWhenItsSlotMoves", s.aShardedSubscriptionEndsWhenItsSlotMoves},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

type clusters struct{ open OpenCluster }

// cluster opens a cluster, and waits for its topology.
func (s clusters) cluster(t *testing.T, a Access) node.Cluster {
	t.Helper()
	c := s.open(t, a)
	t.Cleanup(c.Close)
	look(t, c)
	return c
}

// start starts servers, and opens their cluster through all of them.
func (s clusters) start(t *testing.T, masters, replicas int, opts ...redistest.Option) (*redistest.Cluster, node.Cluster) {
	t.Helper()
	servers := redistest.StartCluster(t, masters, replicas, opts...)
	return servers, s.cluster(t, Access{Seeds: servers.Addrs()})
}

func look(t *testing.T, c node.Cluster) *node.Topology {
	t.Helper()
	topology, err := c.Look(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func shardOf(t *testing.T, c node.Cluster, slot int) *node.Shard {
	t.Helper()
	topology := look(t, c)
	if topology.Owner[slot] < 0 {
		t.Fatalf("slot %d has no owner", slot)
	}
	return topology.Shards[topology.Owner[slot]]
}

// owner returns the address of the master that has a slot, "" if no majority names one.
func owner(c node.Cluster, slot int) string {
	if now := c.Topology(); now.Owner[slot] >= 0 {
		return now.Shards[now.Owner[slot]].Master.Addr
	}
	return ""
}

// masterIs waits until the topology names this owner of a slot. It asks no question itself.
func masterIs(t *testing.T, c node.Cluster, slot int, s *redistest.Server) {
	t.Helper()
	redistest.Eventually(t, patience, "the topology to follow", func() bool { return owner(c, slot) == s.Addr() })
}

// counts returns a call that counts up a key in a slot.
func counts(slot int) node.Call {
	return node.Call{SHA: sha(count), Keys: []string{redistest.KeyIn(slot, "k")}}
}

// works greets a node until EvalSHA is answered.
func works(t *testing.T, n node.Node, c node.Call) {
	t.Helper()
	redistest.Eventually(t, patience, "an answer to EVALSHA", func() bool {
		r := one(t, n, c)
		if node.Code(r.Err) == node.NoScript {
			_ = n.Eval(within(t, patience), count, c) // an error comes again
		}
		return r.Err == nil
	})
}

// ran returns how often a server has run EVALSHA.
func ran(t *testing.T, s *redistest.Server) string {
	t.Helper()
	return stat(t, s, `cmdstat_evalsha:calls=(\d+)`)
}

// rejected returns how often a server has refused EVALSHA before it ran it, for example because of the hash slot.
func rejected(t *testing.T, s *redistest.Server) string {
	t.Helper()
	return stat(t, s, `cmdstat_evalsha:.*,rejected_calls=(\d+)`)
}

func stat(t *testing.T, s *redistest.Server, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(s.MustDo(t, "INFO", "commandstats").(string))
	if m == nil {
		return "0"
	}
	return m[1]
}

func (s clusters) shardsAreFound(t *testing.T) {
	servers := redistest.StartCluster(t, 3, 1)
	c := s.open(t, Access{Seeds: servers.Addrs()[4:5]})
	t.Cleanup(c.Close)
	if c.Topology() != nil {
		t.Error("there is a topology before the first question")
	}
	topology := look(t, c)
	if len(topology.Shards) != 3 || topology.Servers != 6 || topology.Asked != 6 {
		t.Fatalf("%d shards, %d servers, %d asked", len(topology.Shards), topology.Servers, topology.Asked)
	}
	for slot := 0; slot < node.Slots; slot += 1000 {
		shard, master := topology.Shards[topology.Owner[slot]], servers.MasterOf(slot)
		if shard.Master != (node.ClusterServer{ID: servers.ID(master), Addr: master.Addr()}) || shard.Name != shard.Master.ID || shard.Slots < node.Slots/3 {
			t.Errorf("slot %d: the shard is %+v", slot, shard)
		}
		if replica := servers.ReplicasOf(master)[0]; len(shard.Replicas) != 1 || shard.Replicas[0].Addr != replica.Addr() {
			t.Errorf("slot %d: the replicas are %+v", slot, shard.Replicas)
		}
		if shard.Node.Addr() != c.Addr()+"/"+shard.Name[:8] {
			t.Errorf("slot %d: the address is %s", slot, shard.Node.Addr())
		}
		if r := shard.Node.Eval(within(t, patience), count, counts(slot)); r.Value != "1" {
			t.Fatalf("slot %d: %+v", slot, r)
		}
		if r := one(t, shard.Node, counts(slot)); r.Value != "2" {
			t.Errorf("slot %d: %+v", slot, r)
		}
		if id := shard.Node.(node.Commander).Do(within(t, patience), "CLUSTER", "MYID"); id.Value != shard.Master.ID {
			t.Errorf("slot %d: the node leads to %+v", slot, id)
		}
	}
	if now := look(t, c); now.Answered != 6 {
		t.Errorf("%d servers answered", now.Answered)
	}
}

func (s clusters) passwordAndTLS(t *testing.T) {
	servers := redistest.StartCluster(t, 1, 0, redistest.TLS(), redistest.Args("--tls-cluster", "yes"), redistest.User("app", "p%w", "~*", "&*", "+@all"))
	server := servers.Servers()[0]
	addr := strings.TrimPrefix(server.TLSURL(), "rediss://")
	c := s.cluster(t, Access{Seeds: []string{addr}, User: "app", Password: "p%w", TLS: server.TLSConfig(), Wait: 1})
	shard := shardOf(t, c, 0)
	works(t, shard.Node, counts(0))
	if c.Addr() != "rediss+cluster://"+addr || shard.Master.Addr != addr {
		t.Errorf("the cluster is %s, and its master %s", c.Addr(), shard.Master.Addr)
	}
	replication := node.Replication{Declared: true, Replicas: 1, Within: node.DefaultWithin}
	if r := shard.Node.(node.Replicated).Replication(); r != replication || c.Replication() != replication {
		t.Errorf("%+v and %+v are declared", r, c.Replication())
	}
	confirmed := counts(0)
	confirmed.Confirm = true
	if r := one(t, shard.Node, confirmed); r.Err != nil || r.Unconfirmed == nil {
		t.Errorf("without a replica: %+v; want an unconfirmed reply", r)
	}
	if r := shard.Node.(node.Configured).Setting(within(t, patience), "cluster-enabled"); r.Value != "yes" {
		t.Errorf("the setting is %+v", r)
	}
}

func (s clusters) aClosedClusterAnswersNothing(t *testing.T) {
	servers := redistest.StartCluster(t, 1, 0)
	c := s.open(t, Access{Seeds: servers.Addrs()})
	shard := shardOf(t, c, 0)
	works(t, shard.Node, counts(0))
	c.Close()
	if r := one(t, shard.Node, counts(0)); r.Err != node.ErrClosed {
		t.Errorf("after Close: %v", r.Err)
	}
	if _, err := c.Look(t.Context()); err != node.ErrClosed {
		t.Errorf("Look after Close: %v", err)
	}
	c.Close() // does nothing
}
