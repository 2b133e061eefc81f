package check

import (
	"context"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/job"
	"github.com/redis/go-redis/v9"
)

// lockOnly is a locker of gocron on redsync: a lock during the run, with one try. It has no ticks.
type lockOnly struct{ rs *redsync.Redsync }

func (l lockOnly) Lock(ctx context.Context, name string) (gocron.Lock, error) {
	m := l.rs.NewMutex(name, redsync.WithTries(1))
	return unlock{m}, m.LockContext(ctx)
}

type unlock struct{ m *redsync.Mutex }

func (u unlock) Unlock(ctx context.Context) error {
	_, err := u.m.UnlockContext(ctx)
	return err
}

func (w *worker) control(ctx context.Context) error {
	opt, err := redis.ParseURL(w.urls[0])
	if err != nil {
		return err
	}
	client := redis.NewClient(opt)
	defer client.Close()
	l := lockOnly{redsync.New(goredis.NewPool(client))}
	return w.scheduler(ctx, gocron.WithDistributedLocker(l), func(s gocron.Scheduler, name string) error {
		_, err := s.NewJob(gocron.DurationJob(w.every), gocron.NewTask(func() error {
			tick := time.Now().Add(w.ahead).Round(w.every) // by the clock of the machine: the locker knows none
			return w.run(context.Background(), name, job.Tick{Time: tick})
		}), gocron.WithName(name), gocron.WithStartAt(gocron.WithStartDateTimePast(time.Now().Add(w.ahead).Truncate(w.every).Add(-w.every))))
		return err
	})
}

// The control: the same fleet, with a lock and without ticks. If clocks are 200 ms apart, ticks of a short job run
// again.
func TestALockWithoutTicksRunsTicksAgain(t *testing.T) {
	for _, apart := range []time.Duration{0, 200 * time.Millisecond} {
		t.Run(apart.String(), func(t *testing.T) {
			a := newArena(t, "control", redistest.StartN(t, 1))
			a.start(threeApart(apart), short, jobs)
			a.awaitTicks(ticksEach())
			ran := countRuns(a.finish())
			doubles, missing := ran.judge(a.every)
			t.Logf("clocks %s apart: %d ticks, %d runs, %d runs too many, %d ticks missing", apart, ran.ticks(), ran.runs, doubles, missing)
			if apart > 0 && doubles < ran.ticks() {
				t.Errorf("%d runs too many of %d ticks; the control found less than one each", doubles, ran.ticks())
			}
		})
	}
}
