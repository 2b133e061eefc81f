package check

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
)

// A run whose lock was lost ends after the next run of the same process began. Its Unlock leaves the next run its lock.
func TestAnOldRunLeavesTheNextOneItsLock(t *testing.T) {
	server := redistest.Start(t)
	way := redistest.NewProxy(t, server.Addr())
	newArena(t, "locker", []*redistest.Server{server}) // the server votes
	c, err := open("p1", []string{way.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := holdfastgocron.NewLocker(c, job.Spec{Name: "x", Schedule: "every 1s", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	take := func() (got gocron.Lock) {
		redistest.Eventually(t, 30*time.Second, "a tick", func() bool {
			got, err = l.Lock(t.Context(), "x")
			return err == nil
		})
		return got
	}
	old := take()
	way.Cut(true)
	<-old.(interface{ Context() context.Context }).Context().Done()
	way.Cut(false)
	next := take()
	if err := old.Unlock(t.Context()); err == nil {
		t.Error("the end of a run that lost its lock is no error")
	}
	s, err := gocron.NewScheduler() // it has no locker, so it runs what was locked above
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown() }()
	s.Start()
	ran := make(chan job.Tick, 1)
	j, err := l.NewJob(s, "x", func(_ context.Context, tick job.Tick) error { ran <- tick; return nil })
	if err == nil {
		err = j.RunNow()
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case tick := <-ran:
		if want := next.(interface{ Tick() job.Tick }).Tick(); tick != want {
			t.Errorf("the run is for %+v, want %+v", tick, want)
		}
	case <-time.After(20 * time.Second):
		t.Error("the next run lost its lock by the end of the old one")
	}
	if err := next.Unlock(t.Context()); err != nil {
		t.Errorf("the end of the next run: %v", err)
	}
}
