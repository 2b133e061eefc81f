package fanout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// shard is a client with one shard of a Redis Cluster. A test decides about the admission of its hash slots.
type shard struct {
	*Fanout
	model *nodemodel.Node

	mu      sync.Mutex
	turn    int
	foreign map[int]bool // the hash slots of other shards
	denied  error        // the answer to the next questions for an admission; nil: the slot votes
	replica bool         // the server is a replica
	strange bool         // another server is behind the address, until it is greeted
	log     []string     // what reached the server
}

func (s *shard) note(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, what)
	if s.strange {
		return node.ServerError(nodescript.OtherRun + " other")
	}
	return s.denied
}

// readOnly returns the error of a replica.
func (s *shard) readOnly() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replica {
		return node.ServerError(node.ReadOnly + " You can't write against a read only replica.")
	}
	return nil
}

// told returns what reached the server since the last call.
func (s *shard) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.log = nil }()
	return s.log
}

func (s *shard) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// shardNode is the server of a shard.
type shardNode struct {
	*nodemodel.Node
	*shard
}

func (n shardNode) Addr() string { return n.Node.Addr() }
func (n shardNode) Close()       { n.Node.Close() }

// moved returns the error of a call for a slot of another shard.
func (s *shard) moved(keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign[node.SlotOf(keys[0])] {
		return node.ServerError("MOVED 1 other:1")
	}
	return nil
}

// Eval admits the server, and hash slots as the test says.
func (n shardNode) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if err := n.readOnly(); err != nil {
		return node.Reply{Err: err}
	}
	switch {
	case text == nodescript.HelloText():
		n.change(func() { n.strange = false })
		return n.Node.Eval(ctx, text, c)
	case len(c.Keys) == 0:
		if err := n.Load(ctx, load...); err != nil {
			return node.Reply{Err: err}
		}
	default:
		err := n.moved(c.Keys)
		if err == nil {
			err = n.note("admit")
		}
		if err != nil {
			return node.Reply{Err: err}
		}
	}
	return node.Reply{Value: "R" + nodescript.Micros(nodemodel.Now())}
}

func (n shardNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i, c := range calls {
		if replies[i].Err = cmp.Or(n.readOnly(), n.moved(c.Keys)); replies[i].Err == nil {
			_ = n.note("call")
			c.Keys = c.Keys[:len(c.Keys)-1] // the model has one guard
			replies[i] = n.Node.EvalSHA(ctx, []node.Call{c})[0]
		}
	}
	return replies
}

func newShard(t *testing.T) *shard {
	set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "test", Sharded: true}
	s := &shard{model: nodemodel.Master("run", nodemodel.Now, set), foreign: map[int]bool{}}
	s.model.Info.Cluster = true
	s.model.Serve()
	s.model.Set(nodescript.GuardKey, set.String()+" run", time.Hour)
	s.Fanout = New(Config{
		Nodes: []node.Node{shardNode{s.model, s}}, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: func() uint64 { return 1 },
		Logger: slog.New(slog.DiscardHandler),
		Shard: &Shard{
			Slots: func() []int { return nil }, Master: func() string { return "" }, New: func() {}, Look: func(context.Context) {},
			Owner: func(int) *Fanout { return s.Fanout },
			Turn: func(slot int) (int, bool) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.turn, !s.foreign[slot]
			},
		},
	})
	if a := s.AskVotes(t.Context())[0]; a.Verdict != nodescript.Done {
		t.Fatalf("the server does not vote: %+v", a)
	}
	s.told()
	return s
}

// ask asks for a lock, and returns the answer, and what reached the server.
func (s *shard) ask(t *testing.T, name string) (nodescript.Verdict, []string) {
	t.Helper()
	stamp, _, err := s.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	r := newCollector(1)
	s.Send(&Message{Call: nodescript.AcquireCall(nodescript.Lock{Name: name}, "owner", stamp, time.Second), To: r}, nil)
	<-r.done
	return r.answers[0].Verdict, s.told()
}

func (s *shard) wants(t *testing.T, what, name string, verdict nodescript.Verdict, log ...string) {
	t.Helper()
	if v, told := s.ask(t, name); v != verdict || !slices.Equal(told, log) {
		t.Errorf("%s: %v after %v, want %v after %v", what, v, told, verdict, log)
	}
}

// A slot may have a guard that the server wrote itself, before another one was the master. So no call comes before the
// admission, also after questions for it that failed.
func TestACallWaitsForAnAdmissionThatFailedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t)
		defer s.Close(t.Context())
		s.wants(t, "the first call", "x", nodescript.Granted, "admit", "call")
		s.wants(t, "the second call", "x", nodescript.Granted, "call")
		s.change(func() { s.turn, s.denied = 1, errors.New("connection lost") })
		s.wants(t, "the first call in a new turn", "x", nodescript.Failed, "admit")
		s.wants(t, "a call right after it", "x", nodescript.Failed)
		time.Sleep(2 * quorum.AskSoon)
		s.wants(t, "a call after the refusal", "x", nodescript.Failed, "admit")
		s.change(func() { s.denied = nil })
		time.Sleep(2 * quorum.AskSoon)
		s.wants(t, "a call to a server that is well", "x", nodescript.Granted, "admit", "call")
		s.wants(t, "the call after it", "x", nodescript.Granted, "call")
	})
}

// A call for a slot of another shard says nothing about the other slots of this one.
func TestACallForASlotOfAnotherShardLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t)
		defer s.Close(t.Context())
		s.wants(t, "x", "x", nodescript.Granted, "admit", "call")
		s.wants(t, "y", "y", nodescript.Granted, "admit", "call")
		s.change(func() { s.foreign[node.SlotOf(nodescript.RecordKey("y"))] = true })
		s.wants(t, "y, while another shard has it", "y", nodescript.Failed)
		s.wants(t, "x again", "x", nodescript.Granted, "call")
		s.change(func() { s.foreign = map[int]bool{} })
		time.Sleep(2 * quorum.AskSoon)
		s.wants(t, "y, which came back", "y", nodescript.Granted, "admit", "call")
	})
}

// A failover may be over before the client has noticed it. Then another server answers the question for the admission of
// a slot than the one that the client has greeted.
func TestAnotherServerIsGreetedBeforeASlotIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t)
		defer s.Close(t.Context())
		s.change(func() { s.strange = true })
		s.wants(t, "the first call", "x", nodescript.NotAdmitted, "admit")
		time.Sleep(2 * quorum.AskSoon)
		s.wants(t, "the next call", "x", nodescript.Granted, "admit", "call")
	})
}

// A sweep only spares waits to others, so Close does not wait for its next step.
func TestCloseWaitsForNoSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t)
		s.config.Shard.Slots = func() []int { return []int{1} }
		s.Sweep() // its server answers no sweep, so it is repeated
		time.Sleep(quorum.AskAgain / 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if s.Close(ctx); time.Since(began) > 0 {
			t.Errorf("Close took %s", time.Since(began))
		}
	})
}
