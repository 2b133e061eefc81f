package fanout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// adopter is a shard whose slots have come from another master. A test decides about the answers.
type adopter struct {
	*shard
	says func(told string) string // the answer to an admission with this text of an origin

	mu    sync.Mutex
	told  []string // the texts of all admissions
	asked int      // the number of questions for a proof
}

// adopterNode is its server.
type adopterNode struct {
	shardNode
	*adopter
}

func (n adopterNode) Addr() string { return n.shardNode.Addr() }
func (n adopterNode) Close()       { n.shardNode.Close() }

func (n adopterNode) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if len(c.Keys) == 0 {
		return n.shardNode.Eval(ctx, text, c, load...)
	}
	told := c.Args[4]
	n.adopter.mu.Lock()
	n.adopter.told = append(n.adopter.told, told)
	n.adopter.mu.Unlock()
	return node.Reply{Value: n.says(told)}
}

func (n adopterNode) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	return n.shardNode.EvalSHA(ctx, calls)
}

// adopts makes a shard for adoptions. A question for a proof takes the time took, and the other clock is behind this one.
func adopts(t *testing.T, says func(told string) string, took, behind time.Duration) *adopter {
	a := &adopter{shard: newShard(t), says: says}
	s := a.senders[0]
	s.node = adopterNode{shardNode{a.model, a.shard}, a}
	s.slots.shard.Prove = func(ctx context.Context, run string) (p Proved, ok bool, err error) {
		a.mu.Lock()
		a.asked++
		a.mu.Unlock()
		p.Asked = a.Now()
		p.Proof = nodescript.Proof{Run: run, Data: "data", Evicted: "0", Time: nodemodel.Now() - behind.Microseconds()}
		if err := clock.Rest(ctx, took); err != nil {
			return p, false, err
		}
		p.Answered = a.Now()
		return p, true, nil
	}
	return a
}

// from is the answer that a slot came from a master.
func from(before string) string {
	return strings.TrimSuffix("F"+nodescript.Micros(nodemodel.Now())+"run "+before, " ")
}

func votes() string { return "R" + nodescript.Micros(nodemodel.Now()) }

func quarantined() string {
	return "Q" + nodescript.Micros(nodemodel.Now()) + nodescript.Micros(1_000_000) + fmt.Sprintf("%040d", 0) + "restarted"
}

// A proof that is not exact enough says nothing about the clocks.
func TestAProofThatCameLateIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := 9
		a := adopts(t, func(told string) string {
			switch {
			case told == "":
				return from("")
			case told == nodescript.NoProof:
				return quarantined()
			}
			if late--; late > 0 {
				return from("400000")
			}
			return votes()
		}, 150*time.Millisecond, 0)
		defer a.Close(t.Context())
		if got := a.senders[0].slots.askSlot(1); got.Verdict != nodescript.Done {
			t.Errorf("the slot: %+v, want Done; told %q", got, a.told)
		}
		first, last := a.told[1], a.told[len(a.told)-1]
		if !strings.HasSuffix(first, " 31250") || !strings.HasSuffix(last, " 500000") {
			t.Errorf("the proofs are %q … %q; want a small bound first, then 2 W", first, last)
		}
	})
}

// The clocks differ by more than 2 W, however the delays were. The slot has its quarantine soon.
func TestClocksThatDifferForCertainEndInAQuarantine(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		behind time.Duration
	}{"in one move": {"0", 600 * time.Millisecond}, "in several moves": {"350000", 250 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := adopts(t, func(told string) string {
					switch told {
					case "":
						return from("")
					case nodescript.NoProof:
						return quarantined()
					}
					return from(c.before)
				}, 50*time.Millisecond, c.behind)
				defer a.Close(t.Context())
				got := a.senders[0].slots.askSlot(1)
				if got.Verdict != nodescript.Quarantined || len(a.told) != 3 {
					t.Errorf("the slot: %+v after %q, want a quarantine after one proof", got, a.told)
				}
			})
		})
	}
}

// A proof that is never exact enough does not keep a slot from voting for ever.
func TestASlotThatIsDoubtedForMaxTTLIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := adopts(t, func(told string) string {
			switch told {
			case "":
				return from("")
			case nodescript.NoProof:
				return quarantined()
			}
			return from("0")
		}, 600*time.Millisecond, 200*time.Millisecond)
		defer a.Close(t.Context())
		began := a.Now()
		for range 100 {
			got := a.senders[0].slots.askSlot(1)
			if took := a.Now().Sub(began); got.Verdict == nodescript.Quarantined {
				if took < 10*time.Second {
					t.Errorf("a quarantine after %s; leases may be alive", took)
				}
				return
			} else if got.Verdict != nodescript.NotAdmitted {
				t.Fatalf("the slot: %+v, want NotAdmitted", got)
			}
		}
		t.Error("no quarantine after 100 questions")
	})
}

// A thousand slots come from one master at once. They share its proofs, a few of them are asked for at a time, and no slot
// uses a proof that was asked for before the slot was here.
func TestSlotsThatComeTogetherShareTheirProofs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at, most atomic.Int64
		a := adopts(t, func(told string) string {
			now := at.Add(1)
			defer at.Add(-1)
			for most.Load() < now {
				most.Store(now)
			}
			time.Sleep(time.Millisecond) // in the bubble
			if told == "" {
				return from("")
			}
			return votes()
		}, 20*time.Millisecond, 0)
		defer a.Close(t.Context())
		var wait sync.WaitGroup
		for slot := range 1000 {
			wait.Go(func() {
				if got := a.senders[0].slots.askSlot(slot); got.Verdict != nodescript.Done {
					t.Errorf("slot %d: %+v", slot, got)
				}
			})
		}
		wait.Wait()
		if n := most.Load(); n > 100 {
			t.Errorf("%d admissions at once, want at most 100", n)
		}
		if a.asked > 30 {
			t.Errorf("%d questions for a proof", a.asked)
		}
	})
}

// A question for a proof that has begun is of no use for a slot that comes later: the slot may have left its former master
// after that.
func TestASlotUsesNoProofThatWasAskedForBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := adopts(t, nil, time.Second, 0)
		defer a.Close(t.Context())
		h := a.senders[0].slots
		var wait sync.WaitGroup
		wait.Go(func() { _, _, _ = h.prove("run") })
		time.Sleep(500 * time.Millisecond) // in the bubble
		began := a.Now()
		p, ok, err := h.prove("run")
		if wait.Wait(); !ok || err != nil || p.Asked < began {
			t.Errorf("the proof was asked for %s before the slot was seen; %v, %v", began.Sub(p.Asked), ok, err)
		}
	})
}

// A master that does not answer delays nobody for ever.
func TestAProofThatNobodyGivesIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := adopts(t, func(string) string { return from("") }, time.Hour, 0)
		defer a.Close(t.Context())
		if got := a.senders[0].slots.askSlot(1); got.Verdict != nodescript.Failed || !errors.Is(got.Err, context.DeadlineExceeded) {
			t.Errorf("the slot: %+v, want the error of the question", got)
		}
	})
}
