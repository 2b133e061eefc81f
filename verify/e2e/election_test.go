package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// lingers is the time for which a callback goes on after the end of its context.
const lingers = 300 * time.Millisecond

// followed starts a candidate that records when it leads. The channel gets the term.
func followed(t *testing.T, e *election.Election) <-chan int64 {
	terms := make(chan int64, 10)
	campaigns(t, e, func(term int64) { terms <- term })
	return terms
}

// campaigns starts a candidate that calls leads when a term begins, and leads until its context ends.
func campaigns(t *testing.T, e *election.Election, leads func(term int64)) {
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = e.Run(ctx, func(ctx context.Context, term election.Term) error {
			leads(term.Fence)
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-over })
}

// next returns the next term.
func next(t *testing.T, terms <-chan int64) int64 {
	t.Helper()
	select {
	case term := <-terms:
		return term
	case <-time.After(30 * time.Second):
		t.Fatal("nobody leads after 30 s")
		return 0
	}
}

// However a leader gives the leadership up, its callback has returned before the next term begins.
func TestACallbackIsOverBeforeTheNextTerm(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		s := plainSet(t, n)
		c, other := s.ready(s.client(patient)), s.ready(s.client(patient))
		for _, how := range []string{"ctx ends", "Resign", "Resign inside", "an error", "nil", "a panic"} {
			t.Run(fmt.Sprint(n, " nodes, ", how), func(t *testing.T) {
				t.Parallel()
				name := strings.ReplaceAll(t.Name(), "/", "-")
				e := election.New(c, name, election.ResignPause(time.Hour))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var returned atomic.Int64
				leads, result, queued := make(chan int64, 1), make(chan error, 1), make(chan struct{})
				failed := errors.New("failed")
				go func() {
					defer func() {
						if p := recover(); p != nil {
							result <- fmt.Errorf("panic: %v", p)
						}
					}()
					result <- e.Run(ctx, func(ctx context.Context, term election.Term) error {
						leads <- term.Fence
						select {
						case <-queued: // the next leader waits
						case <-ctx.Done():
							select {
							case <-queued: // both came, and select chose this one
							default:
								t.Errorf("term %d ended early: %v", term.Fence, context.Cause(ctx))
							}
						}
						switch how {
						case "ctx ends", "Resign":
							<-ctx.Done()
						case "Resign inside":
							if err := e.Resign(ctx); err != nil || !errors.Is(context.Cause(ctx), election.ErrResigned) {
								t.Errorf("%v, %v", err, context.Cause(ctx))
							}
						}
						<-time.After(lingers)
						returned.Store(time.Now().UnixMicro())
						switch how {
						case "an error":
							return failed
						case "a panic":
							panic("broken")
						}
						return nil
					})
				}()
				first := next(t, leads)
				terms := followed(t, election.New(other, name))
				s.inLine(name, 1)
				close(queued)
				switch how {
				case "ctx ends":
					cancel()
				case "Resign":
					if err := e.Resign(t.Context()); err != nil || returned.Load() == 0 {
						t.Errorf("Resign: %v, at %d", err, returned.Load())
					}
				}
				second := next(t, terms)
				// The token is the time of the grant by the nodes' clocks. All nodes run on this machine, so they have
				// its clock.
				if at := returned.Load(); at == 0 || second < at-(lingers/2).Microseconds() || second <= first {
					t.Errorf("term %d began before the callback of term %d had returned (%d)", second, first, at)
				}
				want := map[string]string{"ctx ends": "context canceled", "an error": "failed", "a panic": "panic: broken"}[how]
				if want == "" { // it pauses for an hour
					select {
					case err := <-result:
						t.Errorf("Run returned %v", err)
					default:
					}
					return
				}
				if err := <-result; err == nil || !strings.HasSuffix(err.Error(), want) || how == "an error" && err != failed {
					t.Errorf("Run returned %v, want %s", err, want)
				}
			})
		}
	}
}

// After a resignation a candidate pauses. Nobody else wants to lead here.
func TestACandidatePausesAfterItResigned(t *testing.T) {
	t.Parallel()
	const pause = time.Second
	s := newSet(t, 3)
	e := election.New(s.ready(s.client()), "x", election.ResignPause(pause))
	terms := followed(t, e)
	first := next(t, terms)
	if err := e.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Leader(t.Context()); !errors.Is(err, election.ErrNoLeader) {
		t.Errorf("after Resign: %v, want ErrNoLeader", err)
	}
	if err := e.Resign(t.Context()); !errors.Is(err, election.ErrNoLeader) {
		t.Errorf("Resign without a term: %v, want ErrNoLeader", err)
	}
	// The tokens are times of the nodes' clocks. All nodes run on this machine, so they have its clock.
	if second := next(t, terms); second-first < (pause - 50*time.Millisecond).Microseconds() {
		t.Errorf("the next term began %d µs after the first; want a pause of %s", second-first, pause)
	}
}

// Leaders are cut off from the nodes. Their contexts end before others lead, and they campaign again.
func TestALostLeadershipEndsBeforeTheNextTerm(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			const names = 8
			s := newSet(t, n)
			net := s.network()
			c, other := s.ready(s.client(net.via(t, viaRueidis))), s.ready(s.client())
			var ended [names]atomic.Int64
			var causes [names]atomic.Pointer[error]
			var led [names]chan int64
			var others [names]<-chan int64
			for i := range names {
				led[i] = make(chan int64, 10)
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() {
					defer close(over)
					_ = election.New(c, fmt.Sprint(i)).Run(ctx, func(ctx context.Context, term election.Term) error {
						led[i] <- term.Fence
						<-ctx.Done()
						ended[i].CompareAndSwap(0, time.Now().UnixNano())
						cause := context.Cause(ctx)
						causes[i].CompareAndSwap(nil, &cause)
						return errors.New("the result of a lost term is ignored")
					})
				}()
				t.Cleanup(func() { cancel(); <-over })
				next(t, led[i])
				others[i] = followed(t, election.New(other, fmt.Sprint(i)))
				s.inLine(fmt.Sprint(i), 1)
			}
			net.all(func(p *redistest.Proxy) { p.Cut(true) })
			for i := range names {
				next(t, others[i])
				if ended[i].Load() == 0 {
					t.Errorf("election %d: the next term began before the context of the lost one had ended", i)
				} else if cause := *causes[i].Load(); !errors.Is(cause, holdfast.ErrLost) {
					t.Errorf("election %d: the context ended with %v", i, cause)
				}
			}
			if t.Failed() {
				return // a callback that does not end never campaigns again
			}
			net.all(func(p *redistest.Proxy) { p.Cut(false) })
			for i := range names {
				s.inLine(fmt.Sprint(i), 1) // it campaigns again
			}
		})
	}
}

// A callback returns before a handle of its lease is unlocked. The work under the handle relies on the lock, so no
// other candidate leads before the Unlock.
func TestAHandleKeepsTheLeadership(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	c, other := s.ready(s.client(patient)), s.ready(s.client(patient))
	handles, ctx := make(chan *holdfast.Lease, 1), t.Context()
	ran := make(chan error, 1)
	go func() {
		ran <- election.New(c, "x").Run(ctx, func(ctx context.Context, _ election.Term) error {
			h, err := c.Mutex("x").Lock(ctx)
			if err != nil {
				t.Errorf("a handle: %v", err)
			}
			handles <- h
			return errors.New("the work has ended")
		})
	}()
	h := <-handles
	if err := <-ran; err == nil || h.Context().Err() != nil {
		t.Fatalf("Run: %v; the handle ended with %v", err, context.Cause(h.Context()))
	}
	if _, err := other.Mutex("x").TryLock(ctx); !errors.Is(err, holdfast.ErrHeld) {
		t.Errorf("another client beside the handle: %v", err)
	}
	terms := followed(t, election.New(other, "x"))
	if err := h.Unlock(ctx); err != nil {
		t.Error(err)
	}
	next(t, terms)
}

// A campaign ends with its context, and leaves nothing in a queue.
func TestACampaignEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, other := s.ready(s.client()), s.ready(s.client())
	next(t, followed(t, election.New(c, "x")))
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- election.New(other, "x").Run(ctx, func(context.Context, election.Term) error {
			t.Error("it leads beside the leader")
			return nil
		})
	}()
	s.inLine("x", 1)
	enough := errors.New("enough")
	cancel(enough)
	if err := <-result; !errors.Is(err, enough) || !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	s.inLine("x", 0)
}

func TestWrongUseOfElections(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client())
	never := func(context.Context, election.Term) error { t.Error("it leads"); return nil }
	for _, e := range []struct {
		election *election.Election
		lead     func(context.Context, election.Term) error
		want     error
		says     string
	}{
		{election.New(c, "x:holdfast"), never, holdfast.ErrBadName, "ends like a key"},
		{election.New(c, ""), never, holdfast.ErrBadName, "empty"},
		{election.New(c, "x", election.WithLock(holdfast.WithTTL(time.Hour))), never, holdfast.ErrBadTTL, "1h0m0s"},
		{election.New(c, "x", election.ResignPause(-1)), never, election.ErrBadPause, "ResignPause is -1ns"},
		{election.New(c, "x"), nil, nil, "lead is nil"},
	} {
		if err := e.election.Run(t.Context(), e.lead); err == nil || e.want != nil && !errors.Is(err, e.want) || !strings.Contains(err.Error(), e.says) {
			t.Errorf("%v; want %v with %q", err, e.want, e.says)
		}
	}
	for o := range election.New(c, "x:holdfast").Observe(t.Context()) {
		if !errors.Is(o.Err, holdfast.ErrBadName) {
			t.Errorf("an observer of a bad name heard %v", o)
		}
	}
	if err := (election.Term{}).Publish(t.Context(), nil); err == nil || (election.Term{}).String() != "no term" {
		t.Errorf("a zero Term: %v", err)
	}
	stop := errors.New("stop")
	err := election.New(c, "x").Run(t.Context(), func(ctx context.Context, term election.Term) error {
		if err := election.New(c, "x", election.WithLock(holdfast.Reentrant(true))).Run(ctx, never); !errors.Is(err, holdfast.ErrReentrant) {
			t.Errorf("Run under its own term: %v", err)
		}
		if err := term.Publish(ctx, make([]byte, election.MostPublished+1)); !errors.Is(err, holdfast.ErrBadValue) {
			t.Errorf("too large: %v", err)
		}
		if err := term.Publish(ctx, make([]byte, election.MostPublished)); err != nil {
			t.Errorf("the largest: %v", err)
		}
		if err := election.New(c, "x").Resign(ctx); !errors.Is(err, election.ErrNoLeader) {
			t.Errorf("Resign of another Election value: %v", err)
		}
		return stop
	})
	if err != stop {
		t.Error(err)
	}
	// The value of a job is not overwritten.
	l := lock(t, c, "job")
	if err := errors.Join(l.Store(t.Context(), []byte("{}")), l.Unlock(t.Context())); err != nil {
		t.Fatal(err)
	}
	_ = election.New(c, "job").Run(t.Context(), func(ctx context.Context, term election.Term) error {
		if err := term.Publish(ctx, []byte("x")); !errors.Is(err, election.ErrNoElection) {
			t.Errorf("over the value of a job: %v", err)
		}
		return stop
	})
	// Close ends the term, the campaign and the observers.
	terms, result, waits := make(chan int64, 1), make(chan error, 2), s.ready(s.client())
	go func() {
		result <- election.New(c, "y").Run(t.Context(), func(ctx context.Context, term election.Term) error {
			terms <- term.Fence
			<-ctx.Done()
			return nil
		})
	}()
	next(t, terms)
	seen := election.New(waits, "y").Observe(t.Context())
	<-seen
	go func() { result <- election.New(waits, "y").Run(t.Context(), never) }()
	s.inLine("y", 1)
	waits.Close()
	for range seen {
	}
	c.Close()
	for range 2 {
		if err := <-result; !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if o := <-election.New(c, "y").Observe(t.Context()); !errors.Is(o.Err, holdfast.ErrClosed) {
		t.Errorf("an observer after Close heard %v", o)
	}
}

// A callback inside the callback of another election resigns from that one with its own context. Resign does not wait
// for the callbacks around it, also if the context lasts longer than they do.
func TestACallbackResignsFromAnElectionAroundIt(t *testing.T) {
	t.Parallel()
	c := plainSet(t, 1).client()
	for name, of := range map[string]func(context.Context) context.Context{
		"its context": func(ctx context.Context) context.Context { return ctx }, "without its end": context.WithoutCancel,
	} {
		outer, inner := election.New(c, "outer "+name), election.New(c, "inner "+name)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = outer.Run(ctx, func(ctx context.Context, _ election.Term) error {
				return inner.Run(ctx, func(ctx context.Context, _ election.Term) error {
					got <- outer.Resign(of(ctx))
					cancel()
					return errors.New("over")
				})
			})
		}()
		select {
		case err := <-got:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: Resign waits for its own caller", name)
		}
		<-ended
		cancel()
	}
}
