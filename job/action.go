package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/verdict"
)

const (
	// MostAudit is the largest number of actions that a Book has.
	MostAudit = 20

	// MostNote is the length, in bytes, of the longest note of an Action.
	MostNote = 200

	// AskedFor is the time for which a request of [Trigger] is valid. After it, no run begins because of the request.
	AskedFor = 10 * time.Minute
)

// Action is something that an operator did to a job.
type Action struct {
	What string    `json:"what"` // pause, resume, run, cancel, remove, reset or retire
	At   time.Time `json:"at"`   // by the nodes' clocks
	By   string    `json:"by"`   // the label of the client: host name and process id
	Note string    `json:"note,omitempty"`
}

var (
	// ErrNeverRan means that the nodes know no job of this name: it never ran, or not in the last 30 days. [Trigger] asks
	// the processes that have it for its first run.
	ErrNeverRan = errors.New("the job never ran, or not in the last 30 days; look for a mistake in its name")

	// ErrPaused means that [Trigger] was refused, because the job is paused.
	ErrPaused = errors.New("the job is paused; resume it first")

	// ErrAsked means that [Trigger] was refused, because an earlier request waits for its run.
	ErrAsked = errors.New("a run was already asked for, and has not begun")

	// ErrNotAsked means that [Cancel] was refused, because no request waits for its run.
	ErrNotAsked = errors.New("no request waits: nobody asked for a run, or the run has begun, or the request was too old")

	// ErrBadNote means that an Action cannot have this note. The error says why.
	ErrBadNote = errors.New("bad note")
)

// Pause makes the fleet take no tick of the job until [Resume]. [Run] goes on, and waits. [Spec.Once] and [Spec.Begin]
// treat each tick as taken. A run that crashed or was interrupted with [CrashRetry] is repeated after Resume. A retry
// ([Spec.Retries]) and a request ([Trigger]) that wait are dropped; the run that waited for its retry has then failed.
// Pause of a paused job replaces the pause, but without a note it changes nothing.
//
// note says why. It has at most [MostNote] bytes of one line, or is empty.
//
// Pause takes the lock of the job. So it waits until a run in progress has ended, for as long as ctx allows. If more
// ticks are due then, each process that waits for the lock may run one, or run ticks for ten seconds. The error matches [ErrNeverRan], [ErrNoJob] or
// [ErrBadNote], or [holdfast.ErrReentrant] if ctx belongs to a run of this job, or is an error of
// [holdfast.Mutex.Lock], [holdfast.Lease.Load] or [holdfast.Lease.Store]. It matches [holdfast.ErrHeld] if ctx ends
// during a run.
func Pause(ctx context.Context, client *holdfast.Client, name, note string) error {
	return change(ctx, client, "Pause", name, "pause", note, func(last *Outcome, a Action) (*Outcome, error) {
		if last.neverRan() {
			return nil, ErrNeverRan
		}
		last.dropRetry(a.At)
		if last.Book.Asked = nil; last.Book.Paused == nil || note != "" {
			last.Book.Paused = &a
		}
		return last, nil
	})
}

// Resume ends a pause. The ticks that came during the pause are not run, and do not count as missed. Resume does
// nothing if the job is not paused. note and the errors are those of [Pause].
func Resume(ctx context.Context, client *holdfast.Client, name, note string) error {
	return change(ctx, client, "Resume", name, "resume", note, func(last *Outcome, a Action) (*Outcome, error) {
		if last.Book.Paused == nil {
			return nil, nil
		}
		last.Book.Paused, last.Book.Resumed = nil, a.At
		if s, err := ParseSchedule(last.Schedule); err == nil {
			last.Next = s.Next(a.At)
		}
		return last, nil
	})
}

// Trigger asks for a run now. One process in which [Run] runs the job begins it, usually within ten seconds. Each
// request causes one run. Its tick is the time of the request, and it has the field Manual. Ticks that are due run
// first: then the tick of the manual run is just after the last of them. If a failed attempt waits for its retry, the
// manual run replaces the retry.
//
// If no run begins within [AskedFor], the request is dropped. This is so if no process runs the job with Run:
// [Spec.Once] and [Spec.Begin] ignore requests. [Cancel] and [Pause] withdraw a request.
//
// A job that never ran can be asked for, too, also before its first tick. Until that run its outcome has the State
// Removed, and no Tick, so nobody shows a name with a mistake.
//
// The error matches [ErrPaused], [ErrAsked] or [ErrFuture], or is one of [Pause], with the same note.
func Trigger(ctx context.Context, client *holdfast.Client, name, note string) error {
	return change(ctx, client, "Trigger", name, "run", note, func(last *Outcome, a Action) (*Outcome, error) {
		if last == nil {
			last = last.replaced(Removed, a)
		}
		switch p, waits := last.Book.Paused, last.asked(a.At); {
		case last.Tick.Sub(a.At) > farAhead:
			return nil, fmt.Errorf("%s: %w", last.Tick.UTC().Format(time.RFC3339), ErrFuture)
		case p != nil:
			return nil, fmt.Errorf("%s: %w", p.byWhom(), ErrPaused)
		case waits != nil:
			return nil, fmt.Errorf("%s: %w", waits.byWhom(), ErrAsked)
		}
		last.Book.Asked = &a
		return last, nil
	})
}

// Cancel withdraws the request of [Trigger] that waits for its run. A run that has begun goes on. The error matches
// [ErrNotAsked] if no request waits, or is one of [Pause], with the same note.
func Cancel(ctx context.Context, client *holdfast.Client, name, note string) error {
	return change(ctx, client, "Cancel", name, "cancel", note, func(last *Outcome, a Action) (*Outcome, error) {
		if last.asked(a.At) == nil {
			return nil, ErrNotAsked
		}
		last.Book.Asked = nil
		return last, nil
	})
}

// Remove says that there is no such job any more. Its State becomes [Removed]. The nodes forget it 30 days later. If a
// process still has the job, the job begins again at the first tick after the removal. Remove also ends a pause. note
// and the errors are those of [Pause].
func Remove(ctx context.Context, client *holdfast.Client, name, note string) error {
	return change(ctx, client, "Remove", name, "remove", note, func(last *Outcome, a Action) (*Outcome, error) {
		o := last.replaced(Removed, a)
		o.Book.Paused, o.Book.Asked, o.Book.Retired = nil, nil, nil
		o.Book.From, o.Book.Overdue = time.Time{}, time.Time{}
		if o.Tick = a.At; last.Tick.After(a.At) {
			o.Tick = last.Tick
		}
		return o, nil
	})
}

// SetTick stores an instant as the last tick of a job, as if that tick had been run. The job then runs only later
// ticks. An operator needs this call after the clocks of a majority of the nodes were ahead. The last tick is then in
// the future, and without this call the job would not run until that time. The job keeps its [Book] and its schedule.
//
// SetTick is also useful for a new job on a new node set while a minority of its nodes is down. Run cannot begin
// there: the nodes' memory is so young that they may have forgotten an outcome, see [holdfast.Lease.Load]. With
// SetTick the operator states that there was none. The Book is then empty.
//
// The error matches [ErrNoJob], or [holdfast.ErrReentrant] if ctx belongs to a run of this job, or is an error of
// [holdfast.Mutex.Lock], [holdfast.Lease.Load] or [holdfast.Lease.Store].
func SetTick(ctx context.Context, client *holdfast.Client, name string, tick time.Time) error {
	if err := storable(tick.UTC()); err != nil {
		return fmt.Errorf("job %q: %w", name, err)
	}
	return change(ctx, client, "SetTick", name, "reset", "", func(last *Outcome, a Action) (*Outcome, error) {
		o := last.replaced(Reset, a)
		o.Tick, o.Book.Resumed, o.Book.From = tick.UTC(), time.Time{}, time.Time{}
		if last == nil {
			return o, nil
		}
		o.Spec, o.Schedule = last.Spec, last.Schedule
		if s, err := ParseSchedule(o.Schedule); err == nil { // a tick between o.Tick and now may be skipped
			from := a.At
			if o.Tick.After(from) {
				from = o.Tick
			}
			if o.Next = s.Next(from); storable(o.Next) != nil {
				return nil, fmt.Errorf("the tick after %s cannot be stored: %w", o.Tick.Format(time.RFC3339), storable(o.Next))
			}
		}
		return o, nil
	})
}

// replaced returns an outcome without a run. The run of o, which may be nil, moves to the history.
func (o *Outcome) replaced(state State, a Action) *Outcome {
	n := &Outcome{State: state, Host: a.By, Started: a.At, Book: o.after(false, MostHistory, a.At)}
	n.Book.Untold = o != nil && (o.Book.Untold || o.State == Failed && o.pending() || o.State == Running && !o.told())
	return n
}

// dropRetry ends the wait of a run that failed for its retry: it has failed now, and somebody must call OnAlert.
func (o *Outcome) dropRetry(now time.Time) {
	if o.State == Failed && o.pending() {
		o.Retry, o.Book.Untold = time.Time{}, true
		o.Book.counts(o.run(), now)
	}
}

// byWhom returns a text for errors: who did it, when and why.
func (a *Action) byWhom() string {
	s := fmt.Sprintf("%s by %s at %s", a.What, a.By, a.At.UTC().Format(time.RFC3339))
	if a.Note != "" {
		s += fmt.Sprintf(" (%q)", a.Note)
	}
	return s
}

// asked returns the request that waits for its run at now, or nil.
func (o *Outcome) asked(now time.Time) *Action {
	if o == nil || o.Book.Asked == nil || o.Book.Paused != nil {
		return nil
	}
	if age := now.Sub(o.Book.Asked.At); age > AskedFor || age < -farAhead {
		return nil
	}
	return o.Book.Asked
}

// checkNote returns an error if an Action cannot have this note.
func checkNote(note string) error {
	switch {
	case len(note) > MostNote:
		return fmt.Errorf("%w: it has %d bytes; at most %d are allowed", ErrBadNote, len(note), MostNote)
	case !utf8.ValidString(note), strings.ContainsFunc(note, unicode.IsControl):
		return fmt.Errorf("%w %q: write one line of UTF-8 without control characters", ErrBadNote, note)
	}
	return nil
}

// change takes the lock of a job, and stores what f returns for its last outcome and this action. If f returns nil, it
// stores nothing. Only SetTick and Trigger get a nil outcome.
func change(ctx context.Context, client *holdfast.Client, call, name, what, note string, f func(*Outcome, Action) (*Outcome, error)) error {
	if ctx == nil {
		return noContext(call, name)
	}
	if err := checkNested(ctx, client, name); err != nil {
		return err
	}
	if err := checkNote(note); err != nil {
		return fmt.Errorf("job %q: %s: %w", name, call, err)
	}
	lease, err := client.Mutex(name).Lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = lease.Unlock(bounded) // if this fails, the lock ends with its TTL
	}()
	value, err := lease.Load(ctx)
	if err != nil && !(what == "reset" && errors.Is(err, holdfast.ErrUnavailable)) {
		return err
	}
	last, err := decode(value)
	if err == nil && last == nil && what != "reset" && what != "run" {
		err = ErrNeverRan
	}
	if err != nil {
		return fmt.Errorf("job %q: %w", name, err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	a := Action{What: what, At: now.UTC(), By: verdict.Holder{Owner: lease.Owner()}.String(), Note: note}
	o, err := f(last, a)
	switch {
	case err != nil:
		return fmt.Errorf("job %q: %w", name, err)
	case o == nil:
		return nil
	}
	if o.unrun() {
		o.Fence = lease.Fence()
	}
	o.Book.Audit = append([]Action{a}, o.Book.Audit...)
	o.Book.Audit = o.Book.Audit[:min(len(o.Book.Audit), MostAudit)]
	if value, err = o.encode(); err != nil {
		return fmt.Errorf("job %q: %w", name, err)
	}
	return lease.Store(ctx, value)
}
