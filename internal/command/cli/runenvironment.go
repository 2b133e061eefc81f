package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// This file makes the environment of a command under holdfast run. It also reads what outer runs have put there.

// nodesVariable is the environment variable that contains the nodes.
const nodesVariable = "HOLDFAST_NODES"

// nodesFileVariable is the environment variable with the path of a file that contains the nodes. The command inherits
// it, because a path is no secret.
const nodesFileVariable = "HOLDFAST_NODES_FILE"

// environment returns the environment of the command. The variables of this run replace those of an outer run with the
// same names.
func environment(h *holding, passNodes bool) []string {
	env := slices.DeleteFunc(inherited(passNodes), func(kv string) bool {
		return strings.HasPrefix(kv, "HOLDFAST_OWNERS=") || strings.HasPrefix(kv, "HOLDFAST_FENCES=")
	})
	owners, fences := outerOwners(), outerFences()
	if !childprocess.InGroup() { // then neither this run nor its command is ended with the locks of the outer runs
		for i := range fences {
			fences[i] = noFence
		}
	}
	for _, l := range slices.Backward(h.all) { // NAME is the innermost lock, and comes last
		if !slices.Contains(owners, l.owner) {
			owners, fences = append(owners, l.owner), append(fences, l.fence)
		}
	}
	env = append(append(env, naming(h.all)...), h.slot()...)
	return append(env, "HOLDFAST_OWNERS="+strings.Join(owners, " "), "HOLDFAST_FENCES="+strings.Join(fences, " "))
}

// noFence replaces the token of a lock whose loss would not end the command.
const noFence = "-"

// secret reports whether the text may contain a user or a password. It only looks for characters. So it may hide URLs
// without a password, but it never shows one with a password.
func secret(nodes string) bool { return strings.ContainsAny(nodes, "@?%") }

// outerOwners returns the owners of the locks of outer runs. The innermost lock is the last. An owner contains no
// spaces: see [holdfast.Config.Label].
func outerOwners() []string { return strings.Fields(os.Getenv("HOLDFAST_OWNERS")) }

// outerFences returns the tokens of the locks of outer runs, in the order of outerOwners.
func outerFences() []string { return strings.Fields(os.Getenv("HOLDFAST_FENCES")) }
