package job

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast"
)

// Retire says that a process no longer has the job, for example because its file changed. The job is then not
// [Outcome.Overdue]. If another process still has the job, or gets it later, [Run] undoes this there, usually within ten
// seconds. A process that gets the job later runs only ticks after it came. Retire does nothing if the job was retired or
// removed. note and the errors are those of [Pause].
//
// Nobody may be left who calls [Spec.OnAlert] for the last run: see [Spec.Retire].
func Retire(ctx context.Context, client *holdfast.Client, name, note string) error {
	return Spec{Name: name}.Retire(ctx, client, note)
}

// Retire does the same as the function [Retire] for the job s.Name. If s.OnAlert is set, Retire also ends the wait of a
// run for its retry, because no process may be left to do that: the run has failed. Retire calls OnAlert for it, or for a
// crashed run that no process has reported.
func (s Spec) Retire(ctx context.Context, client *holdfast.Client, note string) error {
	var alert *Alert
	err := change(ctx, client, "Retire", s.Name, "retire", note, func(last *Outcome, a Action) (*Outcome, error) {
		switch {
		case last.State == Removed && !last.Book.Overdue.IsZero(): // it never ran, and was reported; it may come back
			last.Book.Overdue = time.Time{}
			return last, nil
		case last.Book.Retired != nil, last.State == Removed:
			return nil, nil
		}
		last.Book.Retired = &a
		if s.OnAlert != nil {
			alert = last.finish(a)
		}
		return last, nil
	})
	if err == nil && alert != nil {
		s.OnAlert(*alert)
	}
	return err
}

// finish ends the wait of the last run for its retry, and returns the alert about it, or about a crash that nobody has
// reported. It returns nil if there is nothing to report.
func (o *Outcome) finish(a Action) *Alert {
	o.dropRetry(a.At)
	switch {
	case o.State == Running && !o.told():
		o.Book.Told = o.Started
		return o.crashAlert()
	case o.Book.Untold:
		o.Book.Untold = false
		return o.untoldAlert()
	}
	return nil
}
