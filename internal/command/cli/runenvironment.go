package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/command/childprocess"
)

// This file has the environment of the command of holdfast run, and what a run finds there of the runs around it.

// nodesVariable is the environment variable with the nodes.
const nodesVariable = "HOLDFAST_NODES"

// environment returns the environment of the command. It replaces the variables of an outer run: the innermost lock
// wins.
func environment(h *holding, passNodes bool) []string {
	env := slices.DeleteFunc(inherited(passNodes), func(kv string) bool {
		return strings.HasPrefix(kv, "HOLDFAST_OWNERS=") || strings.HasPrefix(kv, "HOLDFAST_FENCES=")
	})
	owners, fences := outerOwners(), outerFences()
	if !childprocess.InGroup() { // this run does not end with the locks around it, and neither does its command
		for i := range fences {
			fences[i] = noFence
		}
	}
	for _, l := range slices.Backward(h.all) { // NAME is the innermost
		if !slices.Contains(owners, l.owner) {
			owners, fences = append(owners, l.owner), append(fences, l.fence)
		}
	}
	env = append(append(env, naming(h.all)...), h.slot()...)
	return append(env, "HOLDFAST_OWNERS="+strings.Join(owners, " "), "HOLDFAST_FENCES="+strings.Join(fences, " "))
}

// noFence is written instead of the token of a lock that does not end the command.
const noFence = "-"

// secret reports whether the text may contain a user or a password. It does not parse the URLs. So it may hide too many
// of them, but never too few.
func secret(nodes string) bool { return strings.ContainsAny(nodes, "@?%") }

// outerOwners returns the owners of the locks under which this process was started. The innermost lock is last. An
// owner contains no spaces: see [holdfast.Config.Label].
func outerOwners() []string { return strings.Fields(os.Getenv("HOLDFAST_OWNERS")) }

// outerFences returns the tokens of the locks under which this process was started, in the order of outerOwners.
func outerFences() []string { return strings.Fields(os.Getenv("HOLDFAST_FENCES")) }
