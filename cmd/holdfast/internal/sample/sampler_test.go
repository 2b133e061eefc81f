package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

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

// A watcher that comes as a reading begins ends the rest before it, and not the reading.
func TestASecondWatcherEndsNoReading(t *testing.T) {
	for range 10_000 {
		synctest.Test(t, func(t *testing.T) {
			s, _ := counted(10 * time.Millisecond)
			ctx, cancel := context.WithCancel(t.Context())
			for range 100 {
				s.Watch(ctx)
			}
			time.Sleep(500 * time.Millisecond)
			if got := len(s.Past()); got != 1 {
				t.Errorf("%d points after the first reading", got)
			}
			cancel()
			s.Wait()
		})
		if t.Failed() {
			return
		}
	}
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

// In an hour 10 jobs fail in each second, with long errors, and elections and nodes change. The history stays small.
func TestTheHistoryOfAnHourIsBounded(t *testing.T) {
	long := strings.Repeat("é", 5000)
	synctest.Test(t, func(t *testing.T) {
		n := int64(0)
		s := &Sampler{Every: time.Second, Read: func(context.Context) *State {
			n++
			state := whole()
			state.At = time.Now().UnixMilli()
			state.Point.At = state.At
			jobs := make([]Job, 10)
			for i := range jobs {
				jobs[i] = Job{Name: strconv.Itoa(i), Failing: true, Failed: n, State: "failed", Error: strconv.FormatInt(n, 10) + long}
			}
			state.SetJobs(jobs)
			state.Elections = []Election{{Name: "boss", Leader: fmt.Sprint("web-", n), Term: n}}
			state.Nodes[0].Version = fmt.Sprint("Redis ", n)
			return state
		}}
		ctx, cancel := context.WithCancel(t.Context())
		s.Watch(ctx)
		time.Sleep(time.Hour)
		cancel()
		s.Wait()
		h := s.History(0)
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if n < 3600 || len(h.Recent) != MostPoints || len(h.Minutes) > 61 || len(h.Events) != 3*MostEvents {
			t.Errorf("%d readings, %d points, %d minutes, %d events", n, len(h.Recent), len(h.Minutes), len(h.Events))
		}
		kept := 0
		for _, list := range s.diary.kept {
			for _, e := range list {
				kept += len(e.Text)
			}
		}
		if most := 6 * MostEvents * mostText; kept > most || len(text) > 1<<20 {
			t.Errorf("the texts of the events have %d bytes, at most %d are allowed; the history has %d bytes of JSON", kept, most, len(text))
		}
		for _, e := range h.Events {
			if !utf8.ValidString(e.Text) || len(e.Text) > mostText {
				t.Fatalf("%d bytes: %q", len(e.Text), e.Text)
			}
		}
		t.Logf("%d readings; the history has %d bytes of JSON", n, len(text))
	})
}

func TestTheHistoryGoesOnWhileNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := counted(10 * time.Millisecond)
		s.Idle = 15 * time.Second
		keeping, end := context.WithCancel(t.Context())
		s.Keep(keeping)
		time.Sleep(time.Minute - time.Second)
		if n.Load() != 4 {
			t.Errorf("%d readings in a minute that nobody watched, want 4", n.Load())
		}
		// A watcher does not wait for the next reading of the history.
		ctx, leave := context.WithCancel(t.Context())
		w := s.Watch(ctx)
		began := time.Now()
		for range 2 {
			if _, err := w.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("two readings took %s", took)
		}
		leave()
		synctest.Wait()
		before := n.Load()
		time.Sleep(time.Minute)
		if got := n.Load() - before; got < 4 || got > 5 {
			t.Errorf("%d readings in a minute after the last watcher, want 4", got)
		}
		end()
		s.Wait()
		before = n.Load()
		time.Sleep(time.Minute)
		if n.Load() != before {
			t.Error("the readings go on after the end of Keep")
		}
	})
}

func TestAnEarlyReadingIsNoPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := counted(0)
		s.Read = func(ctx context.Context) *State {
			s.Early(&State{Early: true})
			if clock.Rest(ctx, 5*time.Second) != nil {
				return nil
			}
			return whole()
		}
		ctx, cancel := context.WithCancel(t.Context())
		w := s.Watch(ctx)
		began := time.Now()
		if state, err := w.Next(ctx); err != nil || !state.Early || time.Since(began) > 0 {
			t.Errorf("the first reading comes after %s: %v", time.Since(began), err)
		}
		if state, err := w.Next(ctx); err != nil || state.Early || len(s.Past()) != 1 {
			t.Errorf("%d points after one whole reading: %v", len(s.Past()), err)
		}
		s.Note(Event{Kind: "lock", Name: "x", Text: "taken away"})
		if h := s.History(0); len(h.Events) != 1 || h.Events[0].At == 0 || h.Events[0].Seq != 1 {
			t.Errorf("events: %+v", h.Events)
		}
		cancel()
		s.Wait()
	})
}
