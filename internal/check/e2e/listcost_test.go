package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/command/quantile"
)

// A list reads at most [holdfast.ListOptions.Rate] keys a second, so it hardly delays the calls of other clients. The
// test measures single calls to one server, in turns: while a list runs, and while none runs. `make scale` lists
// 100,000 names.
func TestAListHardlyDelaysOthers(t *testing.T) {
	if !*timed {
		t.Parallel()
	}
	const rounds, calls = 10, 400
	s := newSet(t, 5)
	holder, looker := s.ready(s.client(steady)), s.ready(s.client(steady))
	concurrently(*manyListed, 64, func(i int) {
		_, err := holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background())
		for ; errors.Is(err, holdfast.ErrUnavailable); _, err = holder.Mutex(fmt.Sprint("held/", i)).TryLock(context.Background()) {
		}
		if err != nil {
			t.Errorf("held/%d: %v", i, err)
		}
	})
	if t.Failed() {
		return
	}
	measure := func() (took []time.Duration) {
		for i := range calls {
			begin := time.Now()
			if _, err := s.servers[i%5].Do("GET", "x"); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(begin))
			time.Sleep(time.Millisecond) // a pace: a loop without pauses would measure its own queue
		}
		return took
	}
	var quiet, busy []time.Duration
	for range rounds {
		quiet = append(quiet, measure()...)
		ctx, stop := context.WithCancel(t.Context())
		var items atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				for range looker.List(ctx, holdfast.ListOptions{}) {
					items.Add(1)
				}
			}
		}()
		busy = append(busy, measure()...)
		stop()
		<-done
		if items.Load() == 0 {
			t.Fatal("the list had no name")
		}
	}
	without, with := quantile.Of(quiet), quantile.Of(busy)
	ratio := float64(with.Percentile(99)) / float64(without.Percentile(99))
	t.Logf("a call takes %v, p99 %v; while a list runs %v, p99 %v: %.2f", without.Median(), without.Percentile(99), with.Median(), with.Percentile(99), ratio)
	if *timed && ratio > 1.1 {
		t.Errorf("while a list runs, the p99 of a call is %.2f times as long, want at most 1.1", ratio)
	}
}
