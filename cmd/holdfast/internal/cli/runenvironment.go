package cli

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
)

// This file makes the environment of a command under holdfast run. It also reads what outer runs have put there.

// nodesVariable is the environment variable that contains the nodes.
const nodesVariable = "HOLDFAST_NODES"

// nodesFileVariable is the environment variable with the path of a file that contains the nodes. The command inherits
// it, because a path is no secret.
const nodesFileVariable = "HOLDFAST_NODES_FILE"

// environment returns the environment of the command. The variables of this run replace those of an outer run with the
// same names.
func (s *settings) environment(h *holding, passNodes bool) []string {
	env := slices.DeleteFunc(s.inherited(passNodes), func(kv string) bool {
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

// inherited returns the environment of this process, without the variables that name the locks of an outer run. The
// flags of the node set replace their variables. Otherwise a holdfast run inside the command could use other nodes, and
// its lock would not exclude the others.
//
// If HOLDFAST_NODES contains a password, inherited empties it, unless passNodes is true: a command's environment can
// get into logs and crash reports. The variable is empty and not missing. So a holdfast run inside the command ends
// with an error, and does not take its lock on the default node.
func (s *settings) inherited(passNodes bool) (env []string) {
	add := func(name, value string) {
		if name == nodesVariable && !passNodes && secret(value) {
			value = ""
		}
		env = append(env, name+"="+value)
	}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if _, replaced := s.given[name]; !replaced && !named.MatchString(name) {
			add(name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		add(name, s.given[name])
	}
	return env
}

// noFence replaces the token of a lock whose loss would not end the command.
const noFence = "-"

// secret reports whether the text may contain a user, a password or parameters. It only looks for characters. So it may
// hide URLs without a password, but it never shows one with a password.
func secret(nodes string) bool { return strings.ContainsAny(nodes, "@?%") }

// outerOwners returns the owners of the locks of outer runs. The innermost lock is the last. An owner contains no
// spaces: see [holdfast.Config.Label].
func outerOwners() []string { return strings.Fields(os.Getenv("HOLDFAST_OWNERS")) }

// outerFences returns the tokens of the locks of outer runs, in the order of outerOwners.
func outerFences() []string { return strings.Fields(os.Getenv("HOLDFAST_FENCES")) }
