package cli

import (
	"slices"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// passedOn returns a lock of an outer run with its token. It reports false if that run does not pass its token on.
func (e selfHeld) passedOn() (lockOf, bool) {
	i, fences := slices.Index(outerOwners(), e.owner), outerFences()
	if i < 0 || i >= len(fences) {
		return lockOf{}, false
	}
	return lockOf{e.name, e.owner, fences[i]}, true
}

// reenter runs command under locks that outer runs hold. The command replaces this process, so it stays in the process
// group that ends with the locks. reenter returns only if that fails.
func (a *app) reenter(all []lockOf, path string, command []string) error {
	for _, l := range all {
		a.detail("lock %q is held by the run around this one; the command runs under it", l.name)
	}
	a.lines.Wait(patience)
	return notStarted(childprocess.Replace(path, command, append(unnamed(), naming(all)...)))
}
