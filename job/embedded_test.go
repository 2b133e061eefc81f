package job_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/holdfasttest"
	"github.com/holdfast-go/holdfast/job"
)

// Jobs run on embedded nodes too, as users' tests have them.
func TestJobsOnEmbeddedNodes(t *testing.T) {
	client := holdfasttest.Start(t, 3).Client(t, holdfast.Config{Prefix: "app/"})
	hour, err := job.ParseSchedule("every 1h")
	if err != nil {
		t.Fatal(err)
	}
	tick, err := job.TickAt(t.Context(), client, hour)
	if age := time.Since(tick); err != nil || age < -time.Second || age > time.Hour+time.Second {
		t.Fatalf("the present tick is %s, %v", tick, err)
	}
	for _, name := range []string{"b", "a {tag}", "a"} {
		ran, err := job.Once(t.Context(), client, name, tick, func(context.Context, job.Tick) error { return errors.New(name) })
		if !ran || err == nil {
			t.Errorf("%s: %t, %v", name, ran, err)
		}
	}
	if l, err := client.Mutex("no job").Lock(t.Context()); err != nil {
		t.Error(err)
	} else if err := errors.Join(l.Store(t.Context(), []byte("17")), l.Unlock(t.Context())); err != nil {
		t.Error(err)
	}
	jobs, err := job.List(t.Context(), client)
	if err != nil || len(jobs) != 3 || jobs["a {tag}"].Error != "a {tag}" || !jobs["b"].Tick.Equal(tick) {
		t.Errorf("%v, %v", jobs, err)
	}
}

// A job without a Logger of its own uses that of its client.
func TestAJobLogsThroughItsClient(t *testing.T) {
	log := &records{}
	client := holdfasttest.Client(t, holdfast.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	now, err := client.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := func(context.Context, job.Tick) error { return nil }
	if ran, err := job.Once(t.Context(), client, "x", now, done); !ran || err != nil {
		t.Fatal(ran, err)
	}
	if log.count("job done") != 1 {
		t.Errorf("the log of the client has %q", log.all)
	}
}
