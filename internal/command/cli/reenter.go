package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// errSelf ends a wait for a lock that an outer run holds. The outer run waits for this run, so the wait would never
// end. A later try does not help either.
var errSelf = errors.New("this command already runs under this lock")

// ownRun returns the lock if an outer run holds it. An outer run is a holdfast run under which this process was started.
// shared says that this run wants the lock shared. An error names only some of many readers; then the nodes list more.
func ownRun(client *holdfast.Client, err error, shared bool) (self selfHeld, is bool) {
	var held *holdfast.HeldError
	owners := outerOwners()
	// Of several slots the error names only one holder. Another slot may become free.
	if len(owners) == 0 || !errors.As(err, &held) || held.Slots > 1 {
		return self, false
	}
	holders := held.Holders
	if held.Readers > len(holders) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if s, err := client.Status(ctx, held.Name); err == nil {
			holders = s.Holders
		}
	}
	for _, h := range holders {
		if slices.Contains(owners, h.Owner) {
			return selfHeld{held.Name, h.Owner, h.Shared && !shared}, true
		}
	}
	return self, false
}

// selfHeld is the error for a lock that an outer run holds.
type selfHeld struct {
	name, owner string
	upgrade     bool // the outer run holds it shared, and this run wants it exclusively
}

func (e selfHeld) Error() string {
	if e.upgrade {
		return fmt.Sprintf("lock %q: %v, but shared: a reader cannot become a writer", e.name, errSelf)
	}
	return fmt.Sprintf("lock %q: %v", e.name, errSelf)
}
func (e selfHeld) Unwrap() error { return errSelf }

// passedOn returns a lock of an outer run with its token. It reports false in two cases: that run does not pass its token
// on, or this process has left the process group of that run. Nobody would then end the command with the lock.
func (e selfHeld) passedOn() (lockOf, bool) {
	owners, fences := outerOwners(), outerFences()
	i := slices.Index(owners, e.owner)
	if e.upgrade || i < 0 || len(owners) != len(fences) || fences[i] == noFence || !childprocess.InGroup() {
		return lockOf{}, false
	}
	return lockOf{e.name, e.owner, fences[i]}, true
}

// reenter runs command under locks that outer runs hold. The command replaces this process, so it stays in the process
// group that ends with the locks. reenter returns only if that fails, or if a signal comes before.
func (a *app) reenter(all []lockOf, path string, command []string, passNodes bool, sig *signals) error {
	for _, l := range all {
		a.detail("lock %q is held by the run around this one; the command runs under it", l.name)
	}
	for waited := time.Duration(0); waited < patience && !a.lines.Wait(courtesy) && len(sig.ch) == 0; {
		waited += courtesy
	}
	// A signal that came before this instant ends this run. A later signal ends the process at once, even before it has
	// become the command.
	signal.Stop(sig.ch)
	select {
	case got := <-sig.ch:
		return signalled(got)
	default:
	}
	return notStarted(childprocess.Replace(path, command, append(inherited(passNodes), naming(all)...)))
}
