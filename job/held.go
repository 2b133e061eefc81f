package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/verdict"
)

// held is the lock of a job in the process that has it.
type held struct {
	*runner
	lease  *holdfast.Lease
	before sighting // the holder before; zero: nobody had the lock, or its end was regarded
}

// runKey is the key of a context's value that marks the run of a job. A run inside it would store an outcome, and the
// outer run would then store its own earlier tick again.
type runKey struct {
	client *holdfast.Client
	name   string
}

// checkNested returns an error if ctx belongs to a run of the job. The error matches [holdfast.ErrReentrant].
func checkNested(ctx context.Context, client *holdfast.Client, name string) error {
	if ctx.Value(runKey{client, name}) == nil {
		return nil
	}
	return fmt.Errorf("job %q: a run cannot begin another run of its job, and cannot set its tick: %w", name, holdfast.ErrReentrant)
}

const (
	tries    = 3               // number of tries of a load or store while the lock is held
	patience = 5 * time.Second // limit of calls that must go on after the caller's context has ended
)

func (h *held) release() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch err := h.lease.Unlock(ctx); {
	case err == nil, errors.Is(err, holdfast.ErrReleased):
	case errors.Is(err, holdfast.ErrLost): // the lock has ended, and the client's Logger has the reason
	default:
		h.Logger.Warn("job: its lock ends with its TTL", "job", h.Name, "error", err)
	}
}

// retry calls f until it returns nil, a few times at most, and only while the lock is held. If the lock or ctx ended,
// the error is the cause of that end: f may have failed because of it with the error of an outage.
func (h *held) retry(ctx context.Context, f func() error) (err error) {
	for try := range tries {
		if try > 0 {
			_ = clock.Rest(ctx, pause/10) // the end of ctx is handled below
		}
		if ctx.Err() == nil {
			if err = f(); err == nil {
				return nil
			}
		}
		switch {
		case h.lease.Context().Err() != nil:
			return context.Cause(h.lease.Context())
		case ctx.Err() != nil:
			return ending.Cause(ctx)
		}
	}
	return err
}

// load returns the stored outcome.
func (h *held) load(ctx context.Context) (last *Outcome, err error) {
	var value []byte
	if err = h.retry(ctx, func() (err error) { value, err = h.lease.Load(ctx); return err }); err != nil {
		return nil, err
	}
	return decode(value)
}

func (h *held) store(ctx context.Context, o *Outcome) error {
	value, err := o.encode()
	if err != nil {
		return err
	}
	return h.retry(ctx, func() error { return h.lease.Store(ctx, value) })
}

// host returns the label of this process, as [Outcome.Host].
func (h *held) host() string { return verdict.Holder{Owner: h.lease.Owner()}.String() }

// begin returns the outcome to store when a run begins. last is the outcome before it, or nil.
func (h *held) begin(last *Outcome, d decision, now, next time.Time) *Outcome {
	repeats := last != nil && d.tick.Equal(last.Tick)
	o := &Outcome{
		Tick: d.tick, State: Running, Host: h.host(), Fence: h.lease.Fence(),
		Attempt: d.attempt, Started: now, Next: next, Missed: d.missed, Spec: h.hash, Manual: d.manual,
		Book: last.after(repeats, h.History, now),
	}
	if repeats {
		o.Failures = last.Failures
	} else {
		o.Book.Missed += d.missed
	}
	o.Book.Retired, h.adopted = nil, true
	if last != nil {
		o.Book.From = h.from(last, h.since).UTC()
	}
	if d.manual && !repeats || last.asked(now) == nil { // a manual run takes the request, and an old request is dropped
		o.Book.Asked = nil
	}
	if h.schedule != nil {
		o.Schedule = h.schedule.String()
	}
	return o
}

// claim stores that the tick is taken. It returns nil if the run may begin. With CrashSkip the run may begin only if
// a majority of the nodes has stored this. Otherwise another process could run the tick a second time. With
// CrashRetry it may begin even if the store failed, because a second run is allowed there.
func (h *held) claim(ctx context.Context, o *Outcome) error {
	err := h.store(ctx, o)
	if err == nil {
		return nil
	}
	if h.OnCrash == CrashRetry && h.lease.Context().Err() == nil && ctx.Err() == nil {
		h.Logger.Warn("job: its beginning was not stored", "job", h.Name, "tick", o.Tick, "error", err)
		return nil
	}
	h.Logger.Error("job not run: its tick could not be taken, and counts as taken", "job", h.Name, "tick", o.Tick, "error", err)
	return err
}

// work runs the function and stores its outcome. It returns true if the holder may go on with the next tick.
func (h *held) work(ctx context.Context, o *Outcome) bool {
	began := time.Now()
	result := func(*Outcome) {}
	err := func() (err error) {
		work, cancel := ending.Work(ctx, h.lease.Context())
		defer cancel(nil)
		if h.Timeout > 0 {
			defer time.AfterFunc(h.Timeout, func() { cancel(ErrTimeout) }).Stop()
		}
		defer func() {
			if p := recover(); p != nil {
				result(o)
				h.storeOutcome(ctx, o, time.Since(began), panicked{p})
				panic(p)
			}
		}()
		work = context.WithValue(work, runKey{h.client, h.Name}, true)
		work, result = withResult(work)
		err = h.fn(work, Tick{Time: o.Tick, Fence: o.Fence, Attempt: o.Attempt, Missed: o.Missed, Manual: o.Manual})
		if err != nil && context.Cause(work) == ErrTimeout && !errors.Is(err, ErrTimeout) {
			err = fmt.Errorf("%w of %s: %w", ErrTimeout, h.Timeout, err)
		}
		return err
	}()
	result(o)
	h.storeOutcome(ctx, o, time.Since(began), err)
	return h.lease.Context().Err() == nil && ctx.Err() == nil && o.State != Interrupted
}

// lost returns the cause of the end of the lease during a run, or nil if the lease is held.
func (h *held) lost() error {
	ctx := h.lease.Context()
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if _, err := h.client.Now(ctx); errors.Is(cause, holdfast.ErrReleased) && errors.Is(err, holdfast.ErrClosed) {
		return fmt.Errorf("its lock was given back by Close while it ran: %w", holdfast.ErrClosed)
	}
	return cause
}

// panicked is the error of a run that panicked with v.
type panicked struct{ v any }

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.v) }

// end sets how the run of o ended, and when its tick may be run again. The book counts the run if nobody repeats it.
func (h *held) end(o *Outcome, took time.Duration, err error) {
	o.State, o.Took = Done, took
	if err != nil {
		if o.State, o.Error = Failed, err.Error(); errors.Is(err, ErrInterrupted) {
			o.State = Interrupted
		}
	}
	at := o.Started.Add(took).UTC()
	switch o.State {
	case Interrupted:
		if h.OnCrash == CrashRetry {
			o.Retry = at
		}
	case Failed:
		o.Failures++
		_, panics := err.(panicked)
		if retry := at.Add(h.Backoff); !panics && o.Failures <= h.Retries && (o.Next.IsZero() || retry.Before(o.Next)) {
			o.Retry = retry
		}
	}
	if !o.pending() {
		o.Book.counts(o.run(), at)
	}
	if h.schedule != nil && !o.Next.Before(o.Started) && at.After(o.Next) { // a tick that came during the run is not overdue
		o.Next = h.schedule.Next(at)
	}
}

// storeOutcome stores the outcome of a run, and reports it to the Logger and to OnOutcome.
func (h *held) storeOutcome(ctx context.Context, o *Outcome, took time.Duration, err error) {
	err = interruptedBy(ctx, err)
	book := o.Book
	book.Runs = maps.Clone(book.Runs)
	h.end(o, took, err)
	lost := h.lost()
	if lost == nil {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		switch serr := h.store(bounded, o); {
		case errors.Is(serr, holdfast.ErrLost): // the lock was lost before the store, and only the store found it
			lost = serr
		case serr != nil:
			h.Logger.Error("job: its outcome was not stored", "job", h.Name, "tick", o.Tick, "error", serr)
			h.unended = unended{o.Tick, o.Attempt, o.Fence, fmt.Sprintf("it was %s, but the outcome was not stored: %v", o.State, serr)}
		}
	}
	if lost != nil {
		o.Book, o.Retry = book, time.Time{} // the next holder counts this run
		h.unended = unended{o.Tick, o.Attempt, o.Fence, fmt.Sprintf("it lost its lock: %v", lost)}
		if o.State = Crashed; errors.Is(lost, holdfast.ErrClosed) {
			h.Logger.Warn("job interrupted: its client was closed while it ran", "job", h.Name, "tick", o.Tick, "took", took)
		} else {
			h.Logger.Error("job lost its lock while it ran", "job", h.Name, "tick", o.Tick, "took", took, "error", lost)
		}
		h.OnOutcome(*o)
		return
	}
	args := []any{"job", h.Name, "tick", o.Tick, "host", o.Host, "took", took, "attempt", o.Attempt, "missed", o.Missed}
	switch o.State {
	case Done:
		h.Logger.Info("job done", args...)
	case Interrupted:
		h.Logger.Warn("job interrupted", append(args, "error", err)...)
	default:
		if o.pending() {
			args = append(args, "retry", o.Retry)
		}
		h.Logger.Error("job failed", append(args, "error", err)...)
	}
	h.OnOutcome(*o)
	if o.State == Failed && !o.pending() {
		h.alert(AlertFailed, o)
	}
}
