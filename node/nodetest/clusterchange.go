package nodetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// This file changes the masters of a cluster, and moves hash slots.

func (s clusters) aShardFollowsAFailoverOnRequest(t *testing.T) {
	request := func(servers *redistest.Cluster, master *redistest.Server) {
		if _, err := servers.Failover(t.Context(), master); err != nil {
			t.Fatal(err)
		}
	}
	servers, c := s.follows(t, request)
	first := servers.Servers()[0]
	servers.AwaitSettled()
	request(servers, servers.MasterOf(0)) // and back
	masterIs(t, c, 0, first)
	shard := shardOf(t, c, 0)
	works(t, shard.Node, counts(0))
	// The address of a shard leads to several servers, one after the other.
	if id, err := shard.Node.(node.Identified).Identify(within(t, patience)); err != nil || id.Run != runOf(t, first) || id.Returned != 0 {
		t.Errorf("the node leads to %+v, %v; want %s", id, err, runOf(t, first))
	}
}

func (s clusters) aShardFollowsAFailoverOfAKilledMaster(t *testing.T) {
	s.follows(t, func(_ *redistest.Cluster, master *redistest.Server) { master.Kill() })
}

func (s clusters) follows(t *testing.T, fail func(*redistest.Cluster, *redistest.Server)) (servers *redistest.Cluster, c node.Cluster) {
	servers, c = s.start(t, 3, 1)
	before, former, call := shardOf(t, c, 0), servers.MasterOf(0), counts(0)
	run := runOf(t, former)
	works(t, before.Node, call)
	heard, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- before.Node.Listen(t.Context(), "channel", func(m string) { heard <- m }) }()
	<-heard
	fail(servers, former)
	redistest.Eventually(t, patience, "another master", func() bool { return owner(c, 0) != "" && owner(c, 0) != former.Addr() })
	after := shardOf(t, c, 0)
	if after.Name != before.Name || after.Node != before.Node || after.Master.Addr != servers.MasterOf(0).Addr() {
		t.Errorf("the shard is %+v; it was %+v", after, before)
	}
	if err := <-ended; err == nil {
		t.Error("the subscription ended without an error")
	}
	wantCode(t, "the first call to the new master", one(t, after.Node, call).Err, node.NoScript)
	// A greeting tells the new master which one was there before.
	const told = `return table.concat({ARGV[1], ARGV[2], ARGV[5], #ARGV}, ' ')`
	redistest.Eventually(t, patience, "an answer to EVAL", func() bool {
		r := after.Node.Eval(within(t, patience), told, node.Call{Args: []string{"x"}, Epoch: true})
		if want := "x 0000000000000000 " + run + " 5"; r.Err == nil && r.Value != want {
			t.Errorf("the greeting has the arguments %q, want %q", r.Value, want)
		}
		return r.Err == nil
	})
	works(t, after.Node, call)
	if id := after.Node.(node.Commander).Do(within(t, patience), "CLUSTER", "MYID"); id.Value != servers.ID(servers.MasterOf(0)) {
		t.Errorf("the node leads to %+v", id)
	}
	return servers, c
}

// A master hangs, and its replica takes over. When it goes on, it gets no call that may grant a lock.
func (s clusters) aFormerMasterThatComesBackGetsNoCall(t *testing.T) {
	servers, c := s.start(t, 3, 1)
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
		if r := one(t, shard.Node, call); r.Err != nil && node.Code(r.Err) != node.NoScript {
			t.Errorf("call %d: %v", i, r.Err)
		}
	}
	if after := ran(t, former); after != before {
		t.Errorf("the former master ran %s calls, and %s before", after, before)
	}
}

// A witness that is killed, and one that hangs, fail no call.
func (s clusters) aWitnessThatFailsCostsNothing(t *testing.T) {
	servers, c := s.start(t, 3, 1)
	shard, call := shardOf(t, c, 0), counts(0)
	works(t, shard.Node, call)
	servers.Servers()[4].Kill()
	servers.Servers()[5].Freeze()
	defer servers.Servers()[5].Thaw()
	works := func() {
		t.Helper()
		if r := one(t, shard.Node, call); r.Err != nil {
			t.Errorf("a call with two failed witnesses: %v", r.Err)
		}
	}
	redistest.Eventually(t, patience, "four answers", func() bool {
		works()
		return look(t, c).Answered == 4
	})
	for range 20 {
		look(t, c)
		works()
	}
}

// The former owner of a slot gets no call for it, and the calls beside it go out.
func (s clusters) aCallForAMovedSlotIsNotSent(t *testing.T) {
	servers, c := s.start(t, 2, 0)
	const far = node.Slots - 1
	from, to := shardOf(t, c, 5), shardOf(t, c, far)
	works(t, from.Node, counts(5))
	works(t, to.Node, counts(far))
	if err := servers.MoveSlot(t.Context(), 5, servers.MasterOf(far)); err != nil {
		t.Fatal(err)
	}
	masterIs(t, c, 5, servers.MasterOf(far))
	before := ran(t, servers.MasterOf(6))
	want := fmt.Sprintf("MOVED 5 %s", servers.MasterOf(5).Addr())
	if r := one(t, from.Node, counts(5)); node.Code(r.Err) != node.Moved || r.Err.Error() != want || !node.Unsent(r.Err) {
		t.Errorf("%+v, want %s", r, want)
	}
	if after := ran(t, servers.MasterOf(6)); after != before {
		t.Errorf("the former owner ran %s calls, and %s before", after, before)
	}
	before = rejected(t, servers.MasterOf(6))
	replies := batch(t, within(t, patience), from.Node, counts(6), counts(5), node.Call{SHA: sha(count + " "), Args: []string{"no key"}}, counts(7))
	for i, want := range []string{"", node.Moved, node.NoScript, ""} {
		wantCode(t, fmt.Sprint("call ", i), replies[i].Err, want)
	}
	if replies[0].Value != "1" || replies[3].Value != "1" {
		t.Errorf("the replies are at other places: %+v", replies)
	}
	if after := rejected(t, servers.MasterOf(6)); after != before {
		t.Errorf("the former owner refused %s calls, and %s before", after, before)
	}
	works(t, to.Node, counts(5))
	if err := servers.MoveSlot(t.Context(), 5, servers.MasterOf(6)); err != nil {
		t.Fatal(err)
	}
	masterIs(t, c, 5, servers.MasterOf(6))
	works(t, from.Node, counts(5))
	wantCode(t, "after the slot is back", one(t, to.Node, counts(5)).Err, node.Moved)
}

// A server knows of a move first, and answers MOVED.
func (s clusters) aMovedReplyReachesItsCaller(t *testing.T) {
	servers, c := s.start(t, 2, 0)
	from := shardOf(t, c, 5)
	works(t, from.Node, counts(5))
	to := servers.MasterOf(node.Slots - 1)
	if err := servers.MoveSlot(t.Context(), 5, to); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, patience, "MOVED", func() bool {
		r := from.Node.Eval(within(t, patience), count, counts(5)) // goes to the server in any case
		return node.Code(r.Err) == node.Moved && strings.HasSuffix(r.Err.Error(), to.Addr())
	})
	masterIs(t, c, 5, to)
}

// Half of a slot's keys have moved. The server answers ASK for them, and nobody follows.
func (s clusters) aRedirectionIsNotFollowed(t *testing.T) {
	servers, c := s.start(t, 2, 0)
	from, call := shardOf(t, c, 5), counts(5)
	works(t, from.Node, call)
	works(t, shardOf(t, c, node.Slots-1).Node, counts(node.Slots-1))
	move, err := servers.BeginMove(t.Context(), 5, servers.MasterOf(node.Slots-1))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := move.Keys(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("%d keys moved, and %v", n, err)
	}
	r := one(t, from.Node, call)
	wantCode(t, "a key that has left", r.Err, node.Ask)
	two := call
	two.Keys = []string{"{" + call.Keys[0] + "}", call.Keys[0]} // no server has the first one
	if r := one(t, from.Node, two); node.Code(r.Err) != node.Ask && node.Code(r.Err) != node.TryAgain {
		t.Errorf("two keys that have left: %+v", r)
	}
	two.Keys[0] = redistest.KeyIn(6, "k")
	wantCode(t, "keys of two slots", one(t, from.Node, two).Err, node.CrossSlot)
	if err := move.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	masterIs(t, c, 5, servers.MasterOf(node.Slots-1))
}

func (s clusters) aShardedSubscriptionEndsWhenItsSlotMoves(t *testing.T) {
	servers, c := s.start(t, 2, 0)
	channel := redistest.KeyIn(5, "c")
	n, is := shardOf(t, c, 5).Node.(node.Sharded)
	if !is {
		t.Fatal("the node of a shard is no node.Sharded")
	}
	heard, ended := make(chan string, 10), make(chan error, 1)
	go func() { ended <- n.ListenShard(t.Context(), channel, func(m string) { heard <- m }) }()
	if m := <-heard; m != "" {
		t.Fatalf("the first message is %q", m)
	}
	servers.MasterOf(5).MustDo(t, "SPUBLISH", channel, "one")
	if m := <-heard; m != "one" {
		t.Errorf("the second message is %q", m)
	}
	if err := servers.MoveSlot(t.Context(), 5, servers.MasterOf(node.Slots-1)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || len(heard) > 0 {
			t.Errorf("it ended with %v, after %d more messages", err, len(heard))
		}
	case <-within(t, patience).Done():
		t.Error("the subscription goes on")
	}
}
