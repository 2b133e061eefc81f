package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
)

// uiActions does what readers of the page ask for: see ui.Actions. Each action has a line on stderr and an event.
type uiActions struct {
	*talker
	watched
}

// mostAction limits an action. An action of a job waits for the end of a run. The release of the lock may take five
// seconds more.
const mostAction = 10 * time.Second

// Unlock implements ui.Actions.
func (a uiActions) Unlock(ctx context.Context, from string, taken ui.Taken) error {
	name, slots := taken.Name, taken.Slots
	lock, err := sample.Unquoted(name)
	if err != nil {
		return err
	}
	name = printable.Quoted(lock) // a request may have it in another form
	bounded, cancel := context.WithTimeout(ctx, mostAction)
	defer cancel()
	kind, look := "lock", func() (*holdfast.Status, error) { return a.client.Status(bounded, lock) }
	if slots > 0 {
		kind, look = "semaphore", a.semaphore(bounded, lock, slots)
	}
	s, err := look()
	if err != nil {
		return unavailableOr(err)
	}
	o := admin.UnlockOptions{Slots: slots}
	for _, h := range s.Holders {
		// One process may have several leases with one label, one after the other or in several slots.
		if !h.Offered && !h.Foreign && h.String() == taken.Label && h.Fence == taken.Fence && (slots == 0 || h.Slot == taken.Slot) {
			o.Owners = append(o.Owners, h.Owner)
		}
	}
	if len(o.Owners) == 0 {
		return fmt.Errorf("%s with the token %d has %s no longer; nothing was taken away, so look at its present holder", printable.Text(taken.Label), taken.Fence, name)
	}
	slices.Sort(o.Owners)
	o.Owners = slices.Compact(o.Owners)
	u, err := admin.Unlock(bounded, a.client, lock, o)
	if u != nil {
		for _, h := range u.Holders {
			a.say("audit: a reader of the page at %s took %s away from %s", from, name, inFull(h, slots > 0))
			a.Note(sample.Event{Kind: kind, Name: name, Level: "warn", Text: fmt.Sprintf("%s was taken away from %s on this page, from %s", name, h, from)})
		}
	}
	if err != nil {
		return unavailableOr(err)
	}
	if len(u.Holders) == 0 {
		return fmt.Errorf("%s has ended its lock meanwhile", printable.Text(taken.Label))
	}
	return nil
}

func (a uiActions) semaphore(ctx context.Context, name string, slots int) func() (*holdfast.Status, error) {
	return func() (*holdfast.Status, error) { return a.client.Semaphore(name, slots).Status(ctx) }
}

// Job implements ui.Actions.
func (a uiActions) Job(ctx context.Context, from, what, name, note string) error {
	lock, err := sample.Unquoted(name)
	if err != nil {
		return err
	}
	name = printable.Quoted(lock) // a request may have it in another form
	do := map[string]func(context.Context, *holdfast.Client, string, string) error{
		"run": job.Trigger, "cancel": job.Cancel, "pause": job.Pause, "resume": job.Resume,
	}[what]
	if do == nil {
		return fmt.Errorf("%s is no action of a job", printable.Quoted(what))
	}
	by := "holdfast ui, from " + from
	if note != "" {
		by = note + " (" + by + ")"
	}
	bounded, cancel := context.WithTimeout(ctx, mostAction)
	defer cancel()
	if err := do(bounded, a.client, lock, by); err != nil {
		return unavailableOr(err)
	}
	did := what + " the job " + name
	if what == "cancel" {
		did = "withdraw the request for a run of the job " + name
	}
	a.say("audit: a reader of the page at %s asked to %s", from, did)
	a.Note(sample.Event{Kind: "job", Name: name, Level: "warn", Text: fmt.Sprintf("on this page somebody asked to %s, from %s", did, from)})
	return nil
}

// unavailableOr returns an error for the page.
func unavailableOr(err error) error {
	switch {
	case errors.Is(err, holdfast.ErrUnavailable):
		return errors.New("too few nodes answer and vote; it may have happened in part, so look at the page and repeat it")
	case errors.Is(err, holdfast.ErrHeld):
		return errors.New("somebody has the lock now; a job can be changed between its runs only, so repeat it then")
	}
	return err
}
