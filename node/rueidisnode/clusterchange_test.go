package rueidisnode_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

const count = "return redis.call('INCR', KEYS[1])"

// clustered opens a cluster, and waits for its topology.
func clustered(t *testing.T, url string, opts ...rueidisnode.Option) node.Cluster {
	t.Helper()
	c, err := rueidisnode.NewCluster(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	look(t, c)
	return c
}

func look(t *testing.T, c node.Cluster) *node.Topology {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	topology, err := c.Look(ctx)
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

// masterIs waits until the topology names this owner of a slot. It only waits for the cluster's own questions.
func masterIs(t *testing.T, c node.Cluster, slot int, s *redistest.Server) {
	t.Helper()
	redistest.Eventually(t, patience, "the topology to follow", func() bool { return owner(c, slot) == s.Addr() })
}

// counts returns a call that counts up a key in a slot.
func counts(slot int) node.Call {
	return node.Call{SHA: sha(count), Keys: []string{redistest.KeyIn(slot, "k")}}
}

func evalSHA(t *testing.T, n node.Node, calls ...node.Call) []node.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return n.EvalSHA(ctx, calls)
}

// greet runs a script from its text, as a client does after NOSCRIPT.
func greet(t *testing.T, n node.Node, c node.Call) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if r := n.Eval(ctx, count, c); r.Err != nil {
		t.Fatal(r.Err)
	}
}

// works greets a node until EvalSHA is answered.
func works(t *testing.T, n node.Node, c node.Call) {
	t.Helper()
	redistest.Eventually(t, patience, "an answer to EVALSHA", func() bool {
		r := evalSHA(t, n, c)[0]
		if node.Code(r.Err) == node.NoScript {
			greet(t, n, c)
		}
		return r.Err == nil
	})
}

// ran returns how often a server has run EVALSHA.
func ran(t *testing.T, s *redistest.Server) string {
	t.Helper()
	m := regexp.MustCompile(`cmdstat_evalsha:calls=(\d+)`).FindStringSubmatch(s.MustDo(t, "INFO", "commandstats").(string))
	if m == nil {
		return "0"
	}
	return m[1]
}

func TestAShardFollowsAFailover(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(t *testing.T, servers *redistest.Cluster, master *redistest.Server){
		"on request": func(t *testing.T, servers *redistest.Cluster, master *redistest.Server) {
			if _, err := servers.Failover(t.Context(), master); err != nil {
				t.Fatal(err)
			}
		},
		"killed": func(_ *testing.T, _ *redistest.Cluster, master *redistest.Server) { master.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := redistest.StartCluster(t, 3, 1)
			c := clustered(t, "redis+cluster://"+strings.Join(servers.Addrs(), ","))
			before := shardOf(t, c, 0)
			call := counts(0)
			works(t, before.Node, call)
			heard, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				first := true
				ended <- before.Node.Listen(t.Context(), "channel", func(string) {
					if first {
						close(heard)
					}
					first = false
				})
			}()
			<-heard
			former := servers.MasterOf(0)
			fail(t, servers, former)
			redistest.Eventually(t, patience, "another master", func() bool { return owner(c, 0) != "" && owner(c, 0) != former.Addr() })
			after := shardOf(t, c, 0)
			if after.Name != before.Name || after.Node != before.Node || after.Master.Addr != servers.MasterOf(0).Addr() {
				t.Errorf("the shard is %+v; it was %+v", after, before)
			}
			if err := <-ended; err == nil {
				t.Error("the subscription ended without an error")
			}
			if r := evalSHA(t, after.Node, call)[0]; node.Code(r.Err) != node.NoScript {
				t.Errorf("the first call to the new master: %+v", r)
			}
			works(t, after.Node, call)
			if n := servers.MasterOf(0).MustDo(t, "GET", call.Keys[0]); n != "3" && n != "2" { // Eval and one EvalSHA, after 2 of the former master
				t.Logf("the counter is %v", n)
			}
		})
	}
}

// A slot moves to another shard. Its former shard gets no call for it, and the calls beside it go out.
func TestACallForAMovedSlotIsNotSent(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 2, 0)
	c := clustered(t, "redis+cluster://"+servers.Addrs()[0])
	from, to := shardOf(t, c, 5), shardOf(t, c, node.Slots-1)
	works(t, from.Node, counts(5))
	works(t, to.Node, counts(node.Slots-1))
	if err := servers.MoveSlot(t.Context(), 5, servers.MasterOf(node.Slots-1)); err != nil {
		t.Fatal(err)
	}
	masterIs(t, c, 5, servers.MasterOf(node.Slots-1))
	before := ran(t, servers.MasterOf(6))
	want := fmt.Sprintf("MOVED 5 %s", servers.MasterOf(5).Addr())
	if r := evalSHA(t, from.Node, counts(5))[0]; node.Code(r.Err) != node.Moved || r.Err.Error() != want || !node.Unsent(r.Err) {
		t.Errorf("%+v, want %s", r, want)
	}
	if after := ran(t, servers.MasterOf(6)); after != before {
		t.Errorf("the former owner ran %s calls, and %s before", after, before)
	}
	replies := evalSHA(t, from.Node, counts(6), counts(5), node.Call{SHA: sha(count + " "), Args: []string{"no key"}}, counts(7))
	for i, want := range []string{"", node.Moved, node.NoScript, ""} {
		if node.Code(replies[i].Err) != want {
			t.Errorf("call %d: %+v, want %q", i, replies[i], want)
		}
	}
	if replies[0].Value != "1" || replies[3].Value != "1" {
		t.Errorf("the replies are at other places: %+v", replies)
	}
	works(t, to.Node, counts(5))
	if err := servers.MoveSlot(t.Context(), 5, servers.MasterOf(6)); err != nil {
		t.Fatal(err)
	}
	if r := evalSHA(t, to.Node, counts(5))[0]; node.Code(r.Err) != node.Moved && node.Code(r.Err) != node.ClusterDown {
		t.Errorf("after the slot is back: %+v", r)
	}
	redistest.Eventually(t, patience, "the way back", func() bool { return evalSHA(t, from.Node, counts(5))[0].Err == nil })
}

// A master hangs, and its replica takes over. When it goes on, it gets no call that may grant a lock.
func TestAFormerMasterThatComesBackGetsNoCall(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3, 1)
	c := clustered(t, "redis+cluster://"+strings.Join(servers.Addrs(), ","))
	shard, former, call := shardOf(t, c, 0), servers.MasterOf(0), counts(0)
	works(t, shard.Node, call)
	before := ran(t, former)
	former.Freeze()
	next, err := servers.ForceFailover(t.Context(), former)
	if err != nil {
		t.Fatal(err)
	}
	masterIs(t, c, 0, next)
	works(t, shard.Node, call)
	former.Thaw()
	for i := 0; i < 50 || former.Role() != "slave"; i++ {
		if r := evalSHA(t, shard.Node, call)[0]; r.Err != nil && node.Code(r.Err) != node.NoScript {
			t.Errorf("call %d: %v", i, r.Err)
		}
	}
	if after := ran(t, former); after != before {
		t.Errorf("the former master ran %s calls after %s before", after, before)
	}
}

// A witness that is killed, and one that hangs, delay no call and fail none.
func TestAWitnessThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	servers := redistest.StartCluster(t, 3, 1)
	c := clustered(t, "redis+cluster://"+strings.Join(servers.Addrs(), ","))
	shard, call := shardOf(t, c, 0), counts(0)
	works(t, shard.Node, call)
	servers.Servers()[4].Kill()
	servers.Servers()[5].Freeze()
	redistest.Eventually(t, patience, "four answers", func() bool {
		if r := evalSHA(t, shard.Node, call)[0]; r.Err != nil {
			t.Fatalf("a call with two failed witnesses: %v", r.Err)
		}
		return look(t, c).Answered == 4
	})
	for range 20 {
		look(t, c)
		if r := evalSHA(t, shard.Node, call)[0]; r.Err != nil {
			t.Errorf("a call with two failed witnesses: %v", r.Err)
		}
	}
	servers.Servers()[5].Thaw()
}
