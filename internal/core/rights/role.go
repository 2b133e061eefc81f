package rights

import (
	"fmt"
	"strings"
)

// Role is a kind of user of a node. A user may have several roles.
type Role uint8

// Roles.
const (
	Locker    Role = 1 << iota // locks: run, cron, lead, status, bench, jobs --reset, jobs run and the like; programs
	Observer                   // only reads: status, list, leader, jobs
	Operator                   // reads, votes and takes locks away: unlock, doctor, nodes, ui, top
	Admission                  // asks for votes: nodes, nodes trust
)

// Roles has the names of all roles, in their order.
var Roles = []string{"locker", "observer", "operator", "admission"}

// ParseRoles reads the names of roles, separated by commas. The result has all of them.
func ParseRoles(text string) (r Role, err error) {
	for name := range strings.SplitSeq(text, ",") {
		one := Role(0)
		for i, known := range Roles {
			if strings.TrimSpace(name) == known {
				one = 1 << i
			}
		}
		if one == 0 {
			return 0, fmt.Errorf("want some of %s, separated by commas", strings.Join(Roles, ", "))
		}
		r |= one
	}
	return r, nil
}

// String returns the names, separated by commas.
func (r Role) String() string {
	var names []string
	for i, name := range Roles {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// names reports whether a role uses the keys of names. The other roles use only the keys of the node.
func (r Role) names() bool { return r&(Locker|Observer|Operator) != 0 }

// channels reports whether a role uses the channels of waiters.
func (r Role) channels() bool { return r&(Locker|Operator) != 0 }
