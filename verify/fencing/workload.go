//go:build linux

package fencing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/holdfasttest"
)

// Workload is a number of rounds on one store.
type Workload struct {
	Open   Open
	Store  string // for Open
	Rounds int    // the number of rounds in which a holder is paused
	Naive  bool   // all holders have one token, so only their check of the lease is left
}

// Result counts what happened.
type Result struct {
	Paused  int // rounds in which a holder was paused and another one wrote
	Refused int // writes of paused holders that the store refused
	Stale   int // writes of paused holders that the store took
	Lost    int // writes that were taken and are not in the final numbers
	Honest  int // writes of holders that were not paused
}

func (r Result) String() string {
	return fmt.Sprintf("%d pauses, %d writes refused, %d taken, %d updates lost; %d writes without a pause",
		r.Paused, r.Refused, r.Stale, r.Lost, r.Honest)
}

// holders returns the number of holder processes at a time. They mostly wait.
func (w Workload) holders() int { return max(1, min(25, w.Rounds/5)) }

// Run makes the rounds. The locks are on nodes of its own.
func Run(t *testing.T, w Workload) Result {
	t.Helper()
	nodes := holdfasttest.Start(t, 3)
	client := nodes.Client(t, config())
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		sum  Result
		errs []error
	)
	holders, run := w.holders(), rand.Text()[:12] // the store may have names of earlier runs
	for i := range holders {
		rounds := w.Rounds / holders
		if i < w.Rounds%holders {
			rounds++
		}
		wg.Go(func() {
			r := role{Nodes: nodes.URLs(), Store: w.Store, Name: fmt.Sprintf("number-%s-%d", run, i), Naive: w.Naive}
			one, err := w.run(t.Context(), client, r, rounds)
			mu.Lock()
			defer mu.Unlock()
			sum.Paused += one.Paused
			sum.Refused += one.Refused
			sum.Stale += one.Stale
			sum.Lost += one.Lost
			sum.Honest += one.Honest
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", r.Name, err))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return sum
}

// run makes the rounds of one name, with one holder process.
func (w Workload) run(ctx context.Context, client *holdfast.Client, r role, rounds int) (sum Result, err error) {
	register, err := w.Open(r.Store, r.Name)
	if err != nil {
		return sum, err
	}
	first, err := start(r)
	if err != nil {
		return sum, err
	}
	defer first.end()
	taken, number := 0, 0
	for sum.Paused < rounds {
		if answer, err := first.ask(begin); err != nil {
			return sum, err
		} else if answer == expired {
			continue // a busy machine; this holder does not write
		}
		if honest := sum.Honest <= sum.Paused/5; honest {
			answer, err := first.ask(write)
			if err != nil || answer != wrote {
				return sum, fmt.Errorf("a holder that was not paused: %q, %w", answer, err)
			}
			sum.Honest++
			taken++
			continue
		}
		if err := first.Freeze(); err != nil {
			return sum, err
		}
		token, err := second(ctx, client, register, r)
		if err != nil {
			return sum, err
		}
		taken++
		if err := first.Tell(write); err != nil {
			return sum, err
		}
		first.Signal(syscall.SIGCONT)
		answer, err := first.answer()
		if err != nil {
			return sum, err
		}
		switch sum.Paused++; answer {
		case refused:
			sum.Refused++
		case wrote:
			sum.Stale++
			taken++
		default:
			return sum, fmt.Errorf("a paused holder answers %q", answer)
		}
		if number, err = get(ctx, register, token); err != nil {
			return sum, err
		}
	}
	sum.Lost = taken - number
	return sum, nil
}

// second is the holder that comes during the pause. It returns its token.
func second(ctx context.Context, client *holdfast.Client, register fence.Register, r role) (t fence.Token, err error) {
	lease, err := client.Mutex(r.Name, holdfast.WaitThroughOutages()).Lock(ctx)
	if err != nil {
		return t, err
	}
	t = r.token(lease)
	number, err := get(ctx, register, t)
	if err == nil {
		err = put(ctx, register, t, number+1)
	}
	// A busy machine may end this lease too. Its token is the highest one all the same.
	if e := lease.Unlock(ctx); e != nil && !errors.Is(e, holdfast.ErrLost) && !errors.Is(e, holdfast.ErrUnavailable) {
		err = errors.Join(err, e)
	}
	return t, err
}

// Judge makes the workload with the fence and without it. The first must lose nothing, the second must lose something.
func Judge(t *testing.T, w Workload) {
	t.Helper()
	fenced := Run(t, w)
	t.Logf("with the fence: %s", fenced)
	if fenced.Stale != 0 || fenced.Lost != 0 || fenced.Refused != w.Rounds {
		t.Errorf("with the fence: %s; want %d writes refused and none lost", fenced, w.Rounds)
	}
	w.Naive, w.Rounds = true, min(w.Rounds, 50)
	naive := Run(t, w)
	t.Logf("with a check of the lease only: %s", naive)
	if naive.Lost == 0 {
		t.Errorf("with a check of the lease only: %s; this workload cannot lose an update, so it shows nothing", naive)
	}
}
