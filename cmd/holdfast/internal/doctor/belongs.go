package doctor

import (
	"regexp"
	"strings"

	"github.com/holdfast-go/holdfast/verdict"
)

// sameList is the fix of a client that has another list than the others.
const sameList = "give this command the same list of nodes as the other clients, in --nodes or HOLDFAST_NODES, spelt in the same way " +
	"(127.0.0.1 and localhost differ)"

// hashName matches the name of a node set that has no name of its own. The name is a hash of its list.
var hashName = regexp.MustCompile(`^[0-9a-f]{12}$`)

// settingsFix returns the fix of a node that has other settings than this command. The name of a node set without a name
// of its own is a hash of its list. If the client gave this name as --cluster, the next node could have another one.
func settingsFix(n verdict.Answer) string {
	var all, flags []string
	for _, d := range n.Settings {
		switch {
		case d.Setting == "nodes", d.Setting == "cluster" && n.Master == "" && (d.Node == "" || hashName.MatchString(d.Node)):
			if len(all) == 0 {
				all = append(all, sameList)
			}
		case d.Setting == "cluster" && n.Master != "" && d.Node == "redis-cluster":
			all = append(all, "leave --cluster out")
		case d.Node != "":
			flags = append(flags, "--"+d.Setting+"="+shell(d.Node))
		}
	}
	if len(flags) > 0 {
		all = append(all, "give this command and all clients the settings of the node: "+strings.Join(flags, " "))
	}
	if len(all) == 0 {
		return "give this command and all clients the same settings"
	}
	return strings.Join(all, "; and ")
}

// membersFix returns the fix of a node that is no member of the node set, or one twice.
func membersFix(n verdict.Answer) string {
	twice := n.Reason == verdict.ReasonDuplicate || n.Cause == verdict.CauseCopy
	if twice && n.Value != "" {
		return "take " + n.Node + " or " + n.Value + " out of HOLDFAST_NODES"
	}
	return "give all clients the same list of nodes"
}
