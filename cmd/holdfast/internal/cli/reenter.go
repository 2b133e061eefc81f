package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// errSelf means that an outer run holds the lock. The outer run waits for this run, so a wait for the lock would never
// end. A later attempt would not help either.
var errSelf = errors.New("this command already runs under this lock")

// ownRun returns the lock that an attempt found held, if an outer run holds it. An outer run is a holdfast run that
// started this process. shared says that this run wants the lock as a reader. If many readers hold the lock, the error
// names only some of them, and ownRun asks the nodes for more.
func ownRun(client *holdfast.Client, err error, shared bool) (self selfHeld, is bool) {
	var held *holdfast.HeldError
	owners := outerOwners()
	// If a semaphore has several slots, the error names only one holder, and another slot may become free.
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
			return selfHeld{held.Name, h.Owner, held.Slots, h.Shared && !shared}, true
		}
	}
	return self, false
}

// selfHeld is the error for a lock that an outer run holds.
type selfHeld struct {
	name, owner string
	slots       int  // 0 for a lock
	upgrade     bool // the outer run is a reader, and this run wants the lock alone
}

func (e selfHeld) Error() string {
	if e.upgrade {
		return fmt.Sprintf("lock %q: %v, but shared: a reader cannot become a writer", e.name, errSelf)
	}
	if e.slots > 0 {
		return fmt.Sprintf("%s: this command already has its only slot", called(e.name, e.slots))
	}
	return fmt.Sprintf("%s: %v", called(e.name, 0), errSelf)
}
func (e selfHeld) Unwrap() error { return errSelf }

// passedOn returns a lock of an outer run, with its token. It returns false in two cases: the outer run does not pass
// its token on, or this process has left the process group of the outer run. In the second case nobody would end the
// command when the lock is lost.
func (e selfHeld) passedOn() (lockOf, bool) {
	owners, fences := outerOwners(), outerFences()
	i := slices.Index(owners, e.owner)
	if e.upgrade || i < 0 || len(owners) != len(fences) || fences[i] == noFence || !childprocess.InGroup() {
		return lockOf{}, false
	}
	return lockOf{e.name, e.owner, fences[i]}, true
}

// reenter runs command under locks that outer runs hold. The command replaces this process. So it is in the process
// group that is ended when the locks are lost. reenter returns only if this fails, or if a signal came before.
func (a *app) reenter(all []lockOf, path string, command []string, passNodes bool, sig *signals) error {
	for _, l := range all {
		a.detail("lock %q is held by the run around this one; the command runs under it", l.name)
	}
	for waited := time.Duration(0); waited < patience && !a.lines.Wait(courtesy) && len(sig.ch) == 0; {
		waited += courtesy
	}
	// A signal that came before this line ends this run. A later signal ends the process at once, whether or not it
	// has already become the command.
	signal.Stop(sig.ch)
	select {
	case got := <-sig.ch:
		return signalled(got)
	default:
	}
	return notStarted(childprocess.Replace(path, command, append(a.settings.inherited(passNodes), naming(all)...)), "")
}
