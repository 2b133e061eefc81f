package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/holdfast-go/holdfast"
	holdfastgocron "github.com/holdfast-go/holdfast/adapters/gocron"
	"github.com/holdfast-go/holdfast/adapters/robfigcron"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
	"github.com/jonboulle/clockwork"
	"github.com/robfig/cron/v3"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 9 && os.Args[1] == "worker" {
		if err := work(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// open returns a client. Its leases end soon, because tests wait for their ends.
func open(label string, urls []string) (*holdfast.Client, error) {
	return openFor(label, 2*time.Second, urls)
}

func openFor(label string, maxTTL time.Duration, urls []string) (*holdfast.Client, error) {
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		return nil, err
	}
	return holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: maxTTL, Window: 200 * time.Millisecond, NodeTimeout: time.Second, Cluster: "fleet",
		Label: label, Logger: quiet,
	})
}

// ttlOf returns the TTL of a fleet. In a deploy no lease shall be lost, also on a busy machine.
func ttlOf(kind string) time.Duration {
	if strings.HasPrefix(kind, "deploy ") {
		return 20 * time.Second
	}
	return 2 * time.Second
}

// worker is a process of the fleet.
type worker struct {
	kind   string // locker, elector, robfig or control
	label  string
	ahead  time.Duration // how far the clock of its machine is ahead
	takes  time.Duration // the time of a run; negative: until its context ends
	every  time.Duration // the time between two ticks of a job: whole seconds
	jobs   int
	urls   []string
	file   *os.File
	client *holdfast.Client
	asked  <-chan struct{} // closed when the process shall end
}

// work is the main function of a worker. It ends when TERM comes. Its arguments are the kind, the file, the label,
// ahead, takes, every, the number of jobs, and the nodes.
func work(args []string) error {
	file, err := os.OpenFile(args[1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := &worker{kind: args[0], label: args[2], file: file, urls: args[7:]}
	var errs [4]error
	w.ahead, errs[0] = time.ParseDuration(args[3])
	w.takes, errs[1] = time.ParseDuration(args[4])
	w.every, errs[2] = time.ParseDuration(args[5])
	w.jobs, errs[3] = strconv.Atoi(args[6])
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if w.kind != "control" {
		if w.client, err = openFor(w.label, ttlOf(w.kind), w.urls); err != nil {
			return err
		}
		defer w.client.Close()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println(selfexec.Started)
	w.asked = ctx.Done()
	if kind, is := strings.CutPrefix(w.kind, "deploy "); is {
		return w.deploy(ctx, kind)
	}
	return map[string]func(context.Context) error{
		"locker": w.locker, "elector": w.elector, "robfig": w.robfig, "control": w.control,
	}[w.kind](ctx)
}

// write writes a line. It is one write, so that lines of two processes do not mix.
func (w *worker) write(what, name string, tick time.Time, fence int64, text string) {
	_, _ = fmt.Fprintf(w.file, "%s %s %d %d %s %s\n", what, name, tick.Unix(), fence, w.label, text)
}

// run is the work of a job.
func (w *worker) run(ctx context.Context, name string, tick job.Tick) error {
	w.write("begin", name, tick.Time, tick.Fence, "")
	if w.takes >= 0 {
		time.Sleep(w.takes)
	} else {
		select {
		case <-ctx.Done():
		case <-w.asked: // robfig/cron has no way to end a run
		}
	}
	w.write("end", name, tick.Time, tick.Fence, "")
	return nil
}

// refused is called by gocron if a locker refuses a run. On a busy machine too few nodes may answer in time. Such an
// error names no process.
func (w *worker) refused(_ uuid.UUID, name string, err error) {
	what := "failed"
	var taken *job.TakenError
	if errors.As(err, &taken) && taken.Last != nil || errors.Is(err, holdfast.ErrHeld) && strings.Contains(err.Error(), "held by") {
		what = "refused"
	}
	w.write(what, name, time.Time{}, 0, err.Error())
}

func (w *worker) names() (all []string) {
	for i := range w.jobs {
		all = append(all, fmt.Sprint("job", i))
	}
	return all
}

// shifted is the clock of a machine that is ahead.
type shifted struct {
	clockwork.Clock
	ahead time.Duration
}

func (c shifted) Now() time.Time { return c.Clock.Now().Add(c.ahead) }

// scheduler runs a scheduler of gocron until ctx ends.
func (w *worker) scheduler(ctx context.Context, option gocron.SchedulerOption, add func(s gocron.Scheduler, name string) error) error {
	s, err := gocron.NewScheduler(option, gocron.WithClock(shifted{clockwork.NewRealClock(), w.ahead}), gocron.WithStopTimeout(10*time.Second))
	if err != nil {
		return err
	}
	for _, name := range w.names() {
		if err := add(s, name); err != nil {
			return err
		}
	}
	s.Start()
	<-ctx.Done()
	return s.Shutdown()
}

func (w *worker) locker(ctx context.Context) error {
	var specs []job.Spec
	for _, name := range w.names() {
		specs = append(specs, job.Spec{Name: name, Schedule: "every " + w.every.String(), Logger: quiet})
	}
	l, err := holdfastgocron.NewLocker(w.client, specs...)
	if err != nil {
		return err
	}
	return w.scheduler(ctx, gocron.WithDistributedLocker(l), func(s gocron.Scheduler, name string) error {
		_, err := l.NewJob(s, name, func(ctx context.Context, tick job.Tick) error { return w.run(ctx, name, tick) },
			gocron.WithEventListeners(gocron.AfterLockError(w.refused)))
		return err
	})
}

func (w *worker) elector(ctx context.Context) error {
	e := holdfastgocron.NewElector(w.client, "leader")
	defer e.Close()
	return w.scheduler(ctx, gocron.WithDistributedElector(e), func(s gocron.Scheduler, name string) error {
		_, err := s.NewJob(gocron.DurationJob(w.every/4), e.Task(func(ctx context.Context) error {
			lease, _ := holdfast.FromContext(ctx)
			return w.run(ctx, name, job.Tick{Fence: lease.Fence()})
		}), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		return err
	})
}

// early is a schedule as a machine whose clock is ahead follows it. robfig/cron has no clock that a test can set.
type early struct {
	cron.Schedule
	ahead time.Duration
}

func (e early) Next(t time.Time) time.Time { return e.Schedule.Next(t.Add(e.ahead)).Add(-e.ahead) }

func (w *worker) robfig(ctx context.Context) error {
	schedule, err := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(fmt.Sprintf("*/%d * * * * *", w.every/time.Second))
	if err != nil {
		return err
	}
	c := cron.New()
	for _, name := range w.names() {
		wrapper, err := robfigcron.Wrapper(w.client, job.Spec{Name: name, Logger: quiet}, schedule)
		if err != nil {
			return err
		}
		c.Schedule(early{schedule, w.ahead}, cron.NewChain(wrapper).Then(robfigcron.Func(func(ctx context.Context, tick job.Tick) error {
			return w.run(ctx, name, tick)
		})))
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}
