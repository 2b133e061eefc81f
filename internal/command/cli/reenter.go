package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// reenter runs command under a lock that an outer run holds. The command replaces this process, so it stays in the
// process group that ends with the lock. reenter returns only if that fails. otherwise is the error for an outer run
// that does not pass its token on.
func (a *app) reenter(outer selfHeld, path string, command []string, otherwise error) error {
	i, fences := slices.Index(outerOwners(), outer.owner), outerFences()
	if i >= len(fences) {
		return otherwise
	}
	a.detail("lock %q is held by the run around this one; the command runs under it", outer.name)
	a.lines.Wait(patience)
	var env []string
	for _, kv := range os.Environ() {
		switch k, _, _ := strings.Cut(kv, "="); k {
		case "HOLDFAST_NAME", "HOLDFAST_FENCE", "HOLDFAST_OWNER", "HOLDFAST_SLOT": // the outer run has a lock and no slot
		default:
			env = append(env, kv)
		}
	}
	env = append(env, "HOLDFAST_NAME="+outer.name, "HOLDFAST_FENCE="+fences[i], "HOLDFAST_OWNER="+outer.owner)
	return notStarted(childprocess.Replace(path, command, env))
}
