package fanout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// newLoneFleet returns a fleet of one node whose last messages came alone.
func newLoneFleet(t *testing.T) *fleet {
	f := newFleetOf(t, 1)
	for range seldom {
		f.answers(nodescript.QuitCall(lockX, "nobody"))
		synctest.Wait() // wait until the worker is idle
	}
	return f
}

// carry carries m and returns the answer of the first node. It returns false if Carry returned before the answer came.
func (f *fleet) carry(ctx context.Context, m *Message) (nodescript.Answer, bool) {
	r := newCollector(f.N())
	m.To = r
	f.Carry(ctx, r, func() { f.Send(m, nil) })
	select {
	case <-r.done:
		return r.answers[0], true
	default:
		return nodescript.Answer{}, false
	}
}

func (f *fleet) acquire(t *testing.T, owner string) nodescript.Call {
	t.Helper()
	stamp, _, err := f.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	return nodescript.AcquireCall(lockX, owner, stamp, f.set.MaxTTL)
}

func TestALoneCallerCarriesItsCallItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		for range 3 {
			if a, answered := f.carry(t.Context(), &Message{Call: f.acquire(t, "owner")}); !answered || a.Verdict != nodescript.Granted {
				t.Fatalf("answered: %t, with %+v", answered, a)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(time.Millisecond))
		if _, answered := f.carry(t.Context(), &Message{Call: f.acquire(t, "owner")}); answered {
			t.Fatal("a caller carried a call to one of three nodes")
		}
	})
}

// A caller waits until its context ends and no longer. A worker repeats a release that was cut off.
func TestTheEndOfItsContextEndsACallersWaitDuringItsCall(t *testing.T) {
	for _, gives := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLoneFleet(t)
			defer f.Close(t.Context())
			_, stamp := f.lock(t)
			synctest.Wait()
			m := &Message{Call: f.acquire(t, "owner")}
			if gives {
				m.Call, m.Persist = nodescript.ReleaseCall(lockX, "owner", stamp), f.Now().Add(time.Minute)
			}
			f.takes.Store(int64(time.Hour))
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			a, answered := f.carry(ctx, m)
			if took := time.Since(began); took != 10*time.Millisecond || !answered || !a.MayHaveRun() || !errors.Is(a.Err, context.Canceled) {
				t.Errorf("gives back: %t; over after %s; answered: %t, with %+v", gives, took, answered, a)
			}
			if !gives {
				return
			}
			f.takes.Store(0)
			time.Sleep(2 * time.Second) // the first repetition hangs too
			if a := f.answers(f.acquire(t, "other"))[0]; a.Verdict != nodescript.Granted {
				t.Errorf("another owner gets %+v, so the release was not repeated", a)
			}
		})
	}
}

// An impatient caller ends its call to a node that hangs. The client then asks that node whether it votes. Otherwise
// the node would look healthy for ever. Until the node has answered, workers carry the calls.
func TestANodeWhoseCallersAreImpatientIsMetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		f.carry(ctx, &Message{Call: f.acquire(t, "owner")})
		began := time.Now()
		if _, answered := f.carry(t.Context(), &Message{Call: f.acquire(t, "other")}); answered || time.Since(began) > 0 {
			t.Error("the next caller carried its call there")
		}
		time.Sleep(2 * f.Timeout())
		if f.voters[0].votes() {
			t.Error("the node counts as one that votes")
		}
	})
}

// When the client closes, a wait for a lock ends at once, and a release continues.
func TestTheEndOfWaitsCutsOffQuestionsOnly(t *testing.T) {
	for _, gives := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLoneFleet(t)
			defer f.Close(t.Context())
			_, stamp := f.lock(t)
			synctest.Wait()
			call, want := f.acquire(t, "owner"), 10*time.Millisecond
			if gives {
				call, want = nodescript.ReleaseCall(lockX, "owner", stamp), 50*time.Millisecond
			}
			f.takes.Store(int64(50 * time.Millisecond))
			time.AfterFunc(10*time.Millisecond, f.EndWaits)
			began := time.Now()
			if _, answered := f.carry(t.Context(), &Message{Call: call}); !answered || time.Since(began) != want {
				t.Errorf("gives back: %t; answered: %t, after %s", gives, answered, time.Since(began))
			}
		})
	}
}

// Close waits for a carried call as long as for a worker's call. Every message gets its answer. This includes messages
// that the answer to the carried call causes.
func TestCloseWaitsForACarriedCallAndForItsConsequences(t *testing.T) {
	for name, patience := range map[string]time.Duration{"long enough": time.Second, "too short": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newLoneFleet(t)
				_, stamp := f.lock(t)
				synctest.Wait()
				f.takes.Store(int64(50 * time.Millisecond))
				last := newCollector(1)
				first := answers(func(nodescript.Answer) {
					f.takes.Store(0)
					f.Send(&Message{Call: nodescript.ReleaseCall(lockX, "owner", stamp), To: last}, nil)
				})
				go f.Carry(context.Background(), first, func() {
					f.Send(&Message{Call: f.acquire(t, "other"), To: first}, nil)
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				f.Close(ctx)
				synctest.Wait()
				select {
				case <-last.done:
				default:
					t.Fatal("a message has no answer after Close")
				}
				if a := last.answers[0]; patience == time.Second && a.Verdict != nodescript.Done {
					t.Errorf("the release got %+v", a)
				}
			})
		})
	}
}

// answers returns a receiver that calls to with an answer.
func answers(to func(nodescript.Answer)) Receiver { return &receiver{to} }

type receiver struct{ to func(nodescript.Answer) }

func (r *receiver) Answered(_, _ int, a nodescript.Answer) { r.to(a) }

// The messages of a crowd beside a lone caller travel together, and do not depend on the context of a caller.
func TestACrowdBesideALoneCallerTravelsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(10 * time.Millisecond))
		f.piped.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		go f.carry(ctx, &Message{Call: f.acquire(t, "lone")})
		synctest.Wait()
		var crowd sync.WaitGroup
		rolls := make([]*collector, 64)
		for i := range rolls {
			r := newCollector(1)
			rolls[i] = r
			stamp, _, _ := f.Stamp()
			m := &Message{Call: nodescript.AcquireCall(nodescript.Lock{Name: fmt.Sprint(i)}, "one", stamp, f.set.MaxTTL), To: r}
			crowd.Go(func() { f.Carry(t.Context(), r, func() { f.Send(m, nil) }) })
		}
		crowd.Wait()
		for _, r := range rolls {
			if <-r.done; r.answers[0].Verdict != nodescript.Granted {
				t.Fatalf("one of the crowd got %+v", r.answers[0])
			}
		}
		if n := f.piped.Load(); n > 1+workersOfOne+1 {
			t.Errorf("%d pipelines for one lone caller and a crowd of %d", n, len(rolls))
		}
	})
}

// After a crowd the workers carry the next messages, because the crowd may continue.
func TestNobodyCarriesInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(time.Millisecond))
		f.Together(func() {
			for range 2 {
				f.Send(&Message{Call: nodescript.QuitCall(lockX, "nobody")}, nil)
			}
		})
		time.Sleep(time.Second)
		for i := range seldom + 1 {
			_, answered := f.carry(t.Context(), &Message{Call: nodescript.QuitCall(lockX, "nobody")})
			if answered != (i == seldom) {
				t.Errorf("message %d after a crowd, carried by its caller: %t", i, answered)
			}
			time.Sleep(time.Second)
		}
	})
}

// A message of another caller comes between the reservation and the call. A worker takes both messages, so the context
// of one caller cannot cut off the call of another caller.
func TestACallerCarriesOnlyItsOwnMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		f.takes.Store(int64(20 * time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		own, other := newCollector(1), newCollector(1)
		f.Carry(ctx, own, func() {
			f.Send(&Message{Call: f.acquire(t, "own"), To: own}, nil)
			f.Send(&Message{Call: nodescript.QuitCall(lockX, "other"), To: other}, nil)
		})
		<-own.done
		<-other.done
		if a := own.answers[0]; a.Verdict != nodescript.Granted || other.answers[0].Verdict == nodescript.Failed {
			t.Errorf("answers: %+v and %+v", a, other.answers[0])
		}
	})
}

// The server has lost its scripts. The caller leaves its message to a worker, which greets the server again.
func TestACarriedCallSurvivesTheLossOfTheScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLoneFleet(t)
		defer f.Close(t.Context())
		f.models[0].ScriptFlush()
		r := newCollector(1)
		f.Carry(t.Context(), r, func() { f.Send(&Message{Call: f.acquire(t, "owner"), To: r}, nil) })
		if <-r.done; r.answers[0].Verdict != nodescript.Granted {
			t.Errorf("answered %+v", r.answers[0])
		}
	})
}
