package job

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Tick describes one run to the function that does the work.
type Tick struct {
	// Time is the instant of the tick, in UTC.
	Time time.Time

	// Fence is the token of the lock. Send it with each write: see [holdfast.Lease.Fence]. Consecutive ticks may have
	// the same token, because a process keeps the lock if the next tick is already due. A resource that must tell
	// ticks apart also compares Time.
	Fence int64

	// Attempt is 1 for the first run of this tick, and more after crashes and errors: see [Spec.Retries].
	Attempt int

	// Missed is the number of ticks before this one that no process ran. With MissedOnce this run replaces them.
	Missed int

	// Manual is true if an operator asked for this run: see [Trigger]. Time is then the time of the request.
	Manual bool
}

// Func is the work of a job. Its context ends when the lock is lost, when the context of the caller ends, or after
// [Spec.Timeout]. The work must then stop. [holdfast.FromContext] returns the lease.
type Func func(ctx context.Context, tick Tick) error

// Run runs a job at its ticks until ctx ends. Every process of the fleet calls Run with the same Spec. For each tick,
// the first process that gets the lock runs the job. Run returns nil after [Spec.Drain] is closed.
//
// An error of fn is stored as an outcome. Neither such an error nor an outage of the nodes ends Run. Ticks during an
// outage are missed: see [Spec.Missed]. At the end Run returns the cause of ctx. It returns earlier only if it can
// never work. The error then matches [ErrBadSpec], [ErrNoJob], [holdfast.ErrBadName], [holdfast.ErrBadTTL] or
// [holdfast.ErrClosed]. It matches [holdfast.ErrReentrant] if ctx belongs to a run of this job.
//
// If fn panics, Run stores the outcome as failed, releases the lock, and does not recover the panic.
func Run(ctx context.Context, client *holdfast.Client, spec Spec, fn Func) error {
	if fn == nil {
		return noFunction(spec.Name)
	}
	if ctx == nil {
		return noContext("Run", spec.Name)
	}
	t, err := spec.prepare(true)
	if err != nil {
		return err
	}
	if err := checkNested(ctx, client, spec.Name); err != nil {
		return err
	}
	r := t.runner(client, fn)
	r.hard = ctx
	waits, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if t.Drain != nil {
		go func() {
			select {
			case <-t.Drain:
				cancel(errDrained)
			case <-waits.Done():
			}
		}()
	}
	if err = r.serve(waits); errors.Is(err, errDrained) {
		return nil
	}
	return err
}

// errDrained is the cause of a context that ended because [Spec.Drain] was closed.
var errDrained = errors.New("the job was asked to begin no tick")

// serve runs the ticks until ctx ends. ctx ends the waits. r.hard ends a run.
func (r *runner) serve(ctx context.Context) (err error) {
	if r.since, err = r.now(ctx); err != nil {
		return err
	}
	for { // the first turn is at once: before this process came, ticks may have been missed or a run may have crashed
		r.looked, r.retry = time.Time{}, time.Time{}
		ready := r.isReady()
		if ready {
			if err := r.turn(ctx); err != nil {
				return err
			}
		} else {
			r.watch(ctx)
		}
		// The next tick is the one after the last look for ticks that are due. A tick may have come since that look,
		// because the release of the lock or an outage may take seconds.
		from := r.looked
		if from.IsZero() { // no look: the last outcome is unknown
			if from, err = r.now(ctx); err != nil {
				return err
			}
		}
		wake := from.Add(lookEvery)
		if next := r.schedule.Next(from); !next.IsZero() && !next.After(wake) {
			wake = next.Add(r.delay(next))
		}
		if !r.retry.IsZero() && r.retry.Before(wake) {
			wake = r.retry
		}
		if again := from.Add(lookAsked); !ready && again.Before(wake) {
			wake = again
		}
		if err := r.sleep(ctx, wake); err != nil {
			return err
		}
	}
}

// runner runs a job in one process.
type runner struct {
	*task
	client  *holdfast.Client
	fn      Func
	hard    context.Context // ends a run that has begun; set by Run
	since   time.Time
	looked  time.Time // when the holder last looked for ticks that are due, in this turn; zero: it did not
	yields  bool      // the last round released the lock although a tick is due
	retry   time.Time // when the retry of the last run that failed begins; zero: there is none
	paused  time.Time // the time of the pause that was logged last
	unfit   string    // the error of Ready that was logged last; "": the machine is ready
	warned  string    // hash of the other version of the job that was logged last
	ahead   bool      // a tick in the future was already logged
	adopted bool      // this process has stored its schedule since its start, or need not
	blind   bool      // the last load failed, and this was already logged
	unended unended   // the last run whose end this process could not store
}

// pause is the time between two tries while the nodes give no answer.
const pause = time.Second

// lookEvery is the longest time until a process takes the lock and loads the outcome, even if no tick has come. The
// load makes the nodes keep the outcome for another 30 days, and stores it again on nodes that lost their memory.
const lookEvery = time.Hour

// mostTurn is the time after which a process that runs tick after tick releases the lock between two of them. Otherwise
// an operator could not pause a job whose runs take longer than the time between its ticks.
const mostTurn = 10 * time.Second

// turn takes the lock and runs all ticks that are due. An error of turn ends Run.
func (r *runner) turn(ctx context.Context) error {
	for {
		r.yields = false
		again, err := r.round(ctx)
		if !again || err != nil {
			return err
		}
		if r.yields {
			continue
		}
		if err := clock.Rest(ctx, pause); err != nil {
			return err
		}
	}
}

// round does the work of turn once. again is true if turn must repeat it: with CrashRetry, when the last outcome
// could not be loaded, or the run lost its lock or was interrupted, or the lock was released for others.
func (r *runner) round(ctx context.Context) (again bool, err error) {
	h, err := r.take(ctx)
	if h == nil {
		return false, err
	}
	defer h.release()
	unfinished := func(o *Outcome) bool {
		return r.OnCrash == CrashRetry && (h.lease.Context().Err() != nil || o.State == Interrupted)
	}
	last, err := h.load(ctx)
	if err != nil {
		switch {
		case errors.Is(err, ErrNoJob):
			return false, err
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
		if r.OnCrash == CrashSkip {
			r.Logger.Error("job not run: its last outcome is unknown, so the tick counts as taken", "job", r.Name, "error", err)
		} else if !r.blind {
			r.Logger.Warn("job waits for the nodes: its last outcome is unknown", "job", r.Name, "error", err)
		}
		r.blind = true
		return r.OnCrash == CrashRetry, nil
	}
	r.blind = false
	r.compare(last)
	taken := time.Now()
	for ran := false; ; ran = true {
		now, err := r.now(ctx)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return false, err
		}
		r.looked = now
		d := r.next(h, last, now)
		r.explain(last)
		switch {
		case d.ahead > 0:
			h.notice(ctx, last, now)
			h.reportAhead(ctx, last, now)
			return false, nil
		case d.crashed:
			last.crash(now)
			r.Logger.Warn("job crashed: its tick is over", "job", r.Name, "tick", last.Tick, "host", last.Host)
			if d.run {
				break // the next run replaces this outcome
			}
			h.crashes(ctx, last)
		}
		if !d.run {
			h.notice(ctx, last, now)
			if last.retries() && last.Retry.After(now) && d.tick.IsZero() {
				r.retry = last.Retry
			}
			r.reportPaused(last)
			return false, nil
		}
		if ran && time.Since(taken) > mostTurn {
			r.yields = true
			return true, nil
		}
		o := h.begin(last, d, now, r.schedule.Next(d.tick))
		// These calls use r.hard and not ctx, so that a drain does not end them: a tick that was taken must also run.
		err = h.claim(r.hard, o)
		h.alertBefore(last, d.crashed, o, err)
		if err != nil {
			return unfinished(o), nil
		}
		if last = o; !h.work(r.hard, o) {
			return unfinished(o), nil
		}
	}
}

// next returns the next step of the holder. The first step is the tick that a dead holder did not take, if there is
// one.
func (r *runner) next(h *held, last *Outcome, now time.Time) decision {
	before := h.before
	h.before = sighting{}
	if dead := before.died(now, h.lease.TTL()); dead != nil {
		if d := r.untaken(dead, last, r.since, now); d.run {
			r.Logger.Warn("job is late: the process that had its lock died before it took the tick",
				"job", r.Name, "tick", d.tick, "host", dead.host, "late", now.Sub(d.tick))
			return d
		}
	}
	return r.decide(last, r.since, now)
}

// take waits for the lock. An error of take ends Run.
func (r *runner) take(ctx context.Context) (*held, error) {
	told := false
	var before sighting
	options := []holdfast.Option{holdfast.WaitThroughOutages(), holdfast.OnWait(func(err error) {
		before.see(err)
		if !told && errors.Is(err, holdfast.ErrUnavailable) {
			told = true
			r.Logger.Warn("job waits for the nodes", "job", r.Name, "error", err)
		}
	})}
	if r.TTL > 0 {
		options = append(options, holdfast.WithTTL(r.TTL))
	}
	for {
		l, err := r.client.Mutex(r.Name, options...).Lock(ctx)
		switch {
		case err == nil:
			return &held{runner: r, lease: l, before: before}, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, holdfast.ErrClosed), errors.Is(err, holdfast.ErrBadName), errors.Is(err, holdfast.ErrBadTTL), errors.Is(err, holdfast.ErrReentrant):
			return nil, err
		}
		r.Logger.Warn("job waits for its lock", "job", r.Name, "error", err)
		if err := clock.Rest(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// compare logs that another version of the job runs in the fleet.
func (r *runner) compare(last *Outcome) {
	if last == nil || last.Spec == r.hash || last.Spec == "" || last.Spec == r.warned {
		return
	}
	r.warned = last.Spec
	r.Logger.Warn("job differs in the fleet: another version of its schedule, its policies or the time zone data took the last tick",
		"job", r.Name, "spec", r.hash, "schedule", r.schedule.String(), "other_spec", last.Spec, "other_schedule", last.Schedule, "other_host", last.Host)
}
