package cli

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// reenter runs command under a lock that an outer run holds. The command replaces this process, so it stays in the
// process group that ends with the lock. reenter returns only if that fails, or if a signal comes before. otherwise is
// the error for an outer run that does not pass its token on, or whose process group this process has left: nobody would
// end the command with the lock.
func (a *app) reenter(outer selfHeld, path string, command []string, passNodes bool, sig *signals, otherwise error) error {
	owners, fences := outerOwners(), outerFences()
	i := slices.Index(owners, outer.owner)
	if len(owners) != len(fences) || fences[i] == noFence || !childprocess.InGroup() {
		return otherwise
	}
	a.detail("lock %q is held by the run around this one; the command runs under it", outer.name)
	for waited := time.Duration(0); waited < patience && !a.lines.Wait(courtesy) && len(sig.ch) == 0; {
		waited += courtesy
	}
	// A signal that came so far ends this run. A later one ends the process at once, also before it is the command.
	signal.Stop(sig.ch)
	select {
	case got := <-sig.ch:
		return signalled(got)
	default:
	}
	var env []string
	for _, kv := range os.Environ() {
		switch k, v, _ := strings.Cut(kv, "="); {
		case k == "HOLDFAST_NAME", k == "HOLDFAST_FENCE", k == "HOLDFAST_OWNER":
		case k == nodesVariable && !passNodes && secret(v):
			env = append(env, nodesVariable+"=")
		default:
			env = append(env, kv)
		}
	}
	env = append(env, "HOLDFAST_NAME="+outer.name, "HOLDFAST_FENCE="+fences[i], "HOLDFAST_OWNER="+outer.owner)
	return notStarted(childprocess.Replace(path, command, env))
}
