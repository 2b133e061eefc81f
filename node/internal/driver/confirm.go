package driver

import (
	"slices"
	"strconv"

	"github.com/holdfast-go/holdfast/node"
)

// WaitCommand returns the command that waits for the replicas of a declaration.
func WaitCommand(r node.Replication) []string {
	return []string{"WAIT", strconv.Itoa(r.Replicas), strconv.FormatInt(max(r.Within.Milliseconds(), 1), 10)}
}

// Confirms reports whether one of calls needs the confirmation of replicas.
func Confirms(calls []node.Call) bool {
	return slices.ContainsFunc(calls, func(c node.Call) bool { return c.Confirm })
}

// Confirm takes the reply to WAIT. It marks the replies to the calls that too few replicas have confirmed.
func Confirm(r node.Replication, calls []node.Call, replies []node.Reply, wait node.Reply) {
	u := &node.Unconfirmed{Want: r.Replicas, Within: r.Within, Err: wait.Err}
	if wait.Err == nil {
		n, err := strconv.Atoi(wait.Value)
		if u.Replicas = n; err == nil && n >= r.Replicas {
			return
		}
	}
	for i := range calls {
		if calls[i].Confirm && replies[i].Err == nil {
			replies[i].Unconfirmed = u
		}
	}
}
