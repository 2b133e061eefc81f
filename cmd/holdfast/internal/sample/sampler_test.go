package sample

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// counted returns a Sampler whose readings take some time, and the number of its readings.
func counted(took time.Duration) (*Sampler, *atomic.Int64) {
	n := new(atomic.Int64)
	return &Sampler{Every: time.Second, Read: func(ctx context.Context) *State {
		at := n.Add(1)
		if clock.Rest(ctx, took) != nil {
			return nil
		}
		return &State{At: at, Point: Point{At: at}}
	}}, n
}

func TestManyWatchersShareOneReadingASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := counted(10 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			w := s.Watch(ctx)
			go func() {
				for last := int64(0); ; {
					state, err := w.Next(ctx)
					if err != nil {
						return
					}
					if state.At <= last {
						t.Errorf("reading %d comes after %d", state.At, last)
					}
					last = state.At
				}
			}()
		}
		time.Sleep(9500 * time.Millisecond)
		if n.Load() != 10 {
			t.Errorf("%d readings in 9.5 s, want 10", n.Load())
		}
		cancel()
		s.Wait()
		if got := len(s.Past()); got != 10 {
			t.Errorf("%d points, want 10", got)
		}
	})
}

func TestNobodyIsAskedWhileNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := counted(10 * time.Millisecond)
		time.Sleep(time.Minute)
		if n.Load() != 0 {
			t.Fatalf("%d readings before the first watcher", n.Load())
		}
		// Watchers that come and go quickly cause no more readings than one that stays.
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			s.Watch(ctx)
			time.Sleep(100 * time.Millisecond)
			cancel()
			synctest.Wait()
		}
		if n.Load() < 5 || n.Load() > 6 {
			t.Errorf("%d readings in 5 s, want 5", n.Load())
		}
		before := n.Load()
		time.Sleep(time.Minute)
		if n.Load() != before {
			t.Errorf("%d readings after the last watcher", n.Load()-before)
		}
		s.Wait()
	})
}

func TestALongReadingLeavesTheNodesHalfOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := counted(3 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		s.Watch(ctx)
		time.Sleep(59 * time.Second)
		if n.Load() != 10 {
			t.Errorf("%d readings of 3 s in 59 s, want 10", n.Load())
		}
		cancel()
		s.Wait()
	})
}

func TestTheLastWatcherEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := counted(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		s.Watch(ctx)
		time.Sleep(time.Second)
		cancel()
		s.Wait() // it does not wait for an hour
		if n.Load() != 1 || len(s.Past()) != 0 {
			t.Errorf("%d readings, %d points", n.Load(), len(s.Past()))
		}
	})
}

func TestTheHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := counted(0)
		ctx, cancel := context.WithCancel(t.Context())
		s.Watch(ctx)
		time.Sleep(20 * time.Minute)
		cancel()
		s.Wait()
		if p := s.Past(); len(p) != MostPoints || p[0].At < 900 {
			t.Errorf("%d points, the first is %d", len(p), p[0].At)
		}
	})
}
