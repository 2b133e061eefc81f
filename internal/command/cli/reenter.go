package cli

import (
	"os/signal"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// passedOn returns a lock of an outer run with its token. It reports false in two cases: that run does not pass its token
// on, or this process has left the process group of that run. Nobody would then end the command with the lock.
func (e selfHeld) passedOn() (lockOf, bool) {
	owners, fences := outerOwners(), outerFences()
	i := slices.Index(owners, e.owner)
	if i < 0 || len(owners) != len(fences) || fences[i] == noFence || !childprocess.InGroup() {
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
