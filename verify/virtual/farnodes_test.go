package virtual

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/environment"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// far is a modelled node that needs some virtual time for each message, in both directions.
type far struct {
	*nodemodel.Node
	clock       clock.Clock
	there, back atomic.Int64
	connections chan struct{} // limits the calls under way, as the connections of a driver do
	cut         atomic.Bool
}

func (f *far) Environment() environment.Sources {
	return environment.Sources{Clock: f.clock, Random: rand.Uint64}
}
func (f *far) Close() {}

func (f *far) Listen(ctx context.Context, _ string, _ func(string)) error {
	<-ctx.Done()
	return ctx.Err()
}

// newFar returns a way to n whose messages to n need the time there.
func newFar(n *nodemodel.Node, steady clock.Clock, there time.Duration) *far {
	f := &far{Node: n, clock: steady, connections: make(chan struct{}, node.MaxCalls)}
	f.there.Store(int64(there))
	return f
}

// connect waits for a free connection. The returned function frees it again.
func (f *far) connect() (done func()) {
	f.connections <- struct{}{}
	return func() { <-f.connections }
}

func (f *far) Eval(ctx context.Context, text string, c node.Call, load ...string) (r node.Reply) {
	defer f.connect()()
	if err := f.go1(ctx, &f.there); err != nil {
		return node.Reply{Err: err}
	}
	r = f.Node.Eval(ctx, text, c)
	if err := f.go1(ctx, &f.back); err != nil {
		return node.Reply{Err: err}
	}
	if r.Err != nil || len(load) == 0 {
		return r
	}
	err := f.go1(ctx, &f.there)
	if err == nil {
		err = f.Node.Load(ctx, load...)
	}
	if err == nil {
		err = f.go1(ctx, &f.back)
	}
	if err != nil {
		return node.Reply{Err: err}
	}
	return r
}

func (f *far) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	defer f.connect()()
	if err := f.go1(ctx, &f.there); err != nil {
		return nodemodel.Failed(calls, err)
	}
	replies := f.Node.EvalSHA(ctx, calls)
	if err := f.go1(ctx, &f.back); err != nil {
		return nodemodel.Failed(calls, err)
	}
	return replies
}

// go1 waits for the time of one way.
func (f *far) go1(ctx context.Context, takes *atomic.Int64) error {
	if f.cut.Load() {
		return node.NotSent(errors.New("no route"))
	}
	select {
	case <-time.After(time.Duration(takes.Load())):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// farSet is a node set of modelled nodes in virtual time. A test sets their clocks. Times are in windows.
type farSet struct {
	t     *testing.T
	start time.Time
	set   nodescript.Config
	off   [3]atomic.Int64
	nodes [3]*nodemodel.Node
}

func newFarSet(t *testing.T, ttl time.Duration) *farSet {
	s := &farSet{t: t, start: time.Now()}
	s.set = nodeSet(3, ttl)
	for i := range s.nodes {
		s.nodes[i] = voter(i, func() int64 { return nodemodel.Now() + s.off[i].Load() }, s.set)
	}
	return s
}

func (s *farSet) span(w float64) time.Duration { return time.Duration(w * float64(s.set.Window)) }

// at waits until an instant. It counts in windows, from 40 windows after the start.
func (s *farSet) at(w float64) { time.Sleep(time.Until(s.start.Add(s.span(40 + w)))) }

// clock sets the difference between a node's clock and the true time.
func (s *farSet) clock(i int, w float64) { s.off[i].Store(s.span(w).Microseconds()) }

func (s *farSet) client(timeout time.Duration) (*holdfast.Client, [3]*far) {
	var ways [3]*far
	steady := clock.Monotonic()
	for i := range s.nodes {
		ways[i] = newFar(s.nodes[i], steady, 0)
	}
	return open(s.t, s.set, holdfast.Config{NodeTimeout: timeout}, ways[:]), ways
}

// The beginning and the end of a quarantine are each wrong by the error of the asking client's stamps. Two clients each
// reached only one right node, over ways of nearly two windows. Together they shortened the quarantine by more than the
// margin. The list of members does not help if MaxTTL is short. A client counts the vote of a server that lost its
// memory until a report shows the loss, and that takes Trusted at most.
func TestAQuarantineIsNotShortenedByClientsToWhomNodesAreFar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFarSet(t, 2*time.Second)
		s.clock(0, -0.49)
		s.clock(1, +0.49)
		way, timeout := int64(s.span(1.9)), s.span(2.2)
		holder, toHolder := s.client(timeout)
		defer holder.Close()
		rival, toRival := s.client(timeout)
		defer rival.Close()
		admin.Nodes(t.Context(), holder)
		admin.Nodes(t.Context(), rival)

		// To the first client, the clock of node 0 seems to be behind. The clock of node 2 is near the clock of node 0.
		// The client reads both clocks before node 2 loses its memory.
		s.at(-2.1)
		s.clock(2, -1.45)
		begins, ways := s.client(timeout)
		defer begins.Close()
		ways[0].back.Store(way)
		ways[1].cut.Store(true)
		go admin.Nodes(t.Context(), begins)
		s.at(-2.05)
		s.clock(2, 0) // the reports find node 2 alive once more
		s.at(-0.25)
		toHolder[1].cut.Store(true)
		held, err := holder.Mutex("x").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range toHolder {
			way.cut.Store(true)
		}
		toRival[2].cut.Store(true) // no report shows the loss to the rival
		s.at(-0.24)
		s.nodes[2].FlushAll()
		s.clock(2, -2.4) // now the first client asks node 2
		s.at(0)
		s.clock(2, 0)

		// The second client reads a time from node 1 that is too late, and a still later time from node 2.
		s.at(0.8)
		s.clock(2, 5.2)
		ends, ways := s.client(timeout)
		defer ends.Close()
		ways[0].cut.Store(true)
		ways[1].there.Store(way)
		ways[2].back.Store(way)
		said := make(chan verdict.Answer, 1)
		go func() { said <- admin.Nodes(t.Context(), ends)[2] }()
		s.at(1.8)
		s.clock(2, 3.79)
		ways[2].back.Store(0)
		s.at(2.8) // now the second client asks node 2
		s.clock(2, 0)
		toRival[2].cut.Store(false)
		if got, err := rival.Mutex("x").TryLock(t.Context()); err == nil {
			if left := time.Until(held.Deadline()); left > 0 && held.Context().Err() == nil {
				t.Errorf("two holders: the first has token %d for another %s, the second %d", held.Fence(), left, got.Fence())
			}
		}
		if why := fmt.Sprint(<-said); !strings.Contains(why, "too much for Window = 250ms; set a Window above") {
			t.Errorf("who may not end a quarantine is not told why: %s", why)
		}
	})
}

// A call ages while it waits for a pipeline, and on its way. If nodes are far, two pipelines are nearly always under
// way. A new call waited for up to a round trip and came too late.
func TestABusyClientToWhomNodesAreFarKeepsItsLeases(t *testing.T) {
	t.Parallel()
	for _, w := range []float64{0.6, 1.2, 1.7} {
		t.Run(fmt.Sprintf("a round trip of %.1f windows", w), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFarSet(t, 10*time.Second)
				c, ways := s.client(2 * time.Second)
				defer c.Close()
				for _, way := range ways {
					way.there.Store(int64(s.span(w / 2)))
					way.back.Store(int64(s.span(w / 2)))
				}
				var held []*holdfast.Lease
				for i := range 20 {
					held = append(held, lock(t, c, fmt.Sprint("held", i)))
				}
				var busy sync.WaitGroup
				var failed atomic.Int64
				var last atomic.Value
				for i := range 100 {
					busy.Go(func() {
						time.Sleep(time.Duration(i) * 13 * time.Millisecond)
						for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
							l, err := c.Mutex(fmt.Sprint("busy", i)).TryLock(t.Context())
							if err != nil {
								failed.Add(1)
								last.Store(err.Error())
								continue
							}
							time.Sleep(time.Duration(7+i) * time.Millisecond)
							l.Unlock(t.Context())
						}
					})
				}
				busy.Wait()
				if failed.Load() > 0 {
					t.Errorf("%d attempts at names that nobody else wants failed; the last: %s", failed.Load(), last.Load())
				}
				for _, l := range held {
					if err := l.Unlock(t.Context()); err != nil {
						t.Errorf("a lease was lost: %v", err)
						break
					}
				}
			})
		})
	}
}

// A client that is always at work must not count as idle after a minute, and its reports of members must continue.
// Otherwise it would have to meet all its nodes again at once, and every renewal would wait for that.
func TestABusyClientIsNotIdleAfterAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFarSet(t, 10*time.Second)
		c, ways := s.client(2 * time.Second)
		defer c.Close()
		for _, way := range ways {
			way.there.Store(int64(s.span(0.85)))
			way.back.Store(int64(s.span(0.85)))
		}
		var held []*holdfast.Lease
		for i := range 20 {
			held = append(held, lock(t, c, fmt.Sprint("held", i), holdfast.WithTTL(4*time.Second)))
		}
		var busy sync.WaitGroup
		for i := range 100 {
			busy.Go(func() {
				time.Sleep(time.Duration(i) * 13 * time.Millisecond)
				for end := time.Now().Add(90 * time.Second); time.Now().Before(end); {
					l, err := c.Mutex(fmt.Sprint("busy", i)).TryLock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Duration(7+i) * time.Millisecond)
					l.Unlock(t.Context())
				}
			})
		}
		busy.Wait()
		for i, l := range held {
			if err := l.Unlock(t.Context()); err != nil {
				t.Errorf("held%d: %v", i, err)
			}
		}
	})
}
