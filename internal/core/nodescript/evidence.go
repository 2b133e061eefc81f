package nodescript

import (
	"fmt"
	"strings"
	"time"
)

// Evidence contains the values that belong to the Cause of an answer, or the readers that hold a name, or a loaded
// value. [Cause] says which field is set. A grant has no Evidence, so a grant costs no allocation.
type Evidence struct {
	Value string        // a value on the server, or the address of another node: see Cause
	Off   time.Duration // Inexact: how far the client's stamps may be off

	Theirs, Ours []Peer        // Stranger: the members of the node Value, and the servers behind the client's list
	Kept         time.Duration // Stranger: how long that node keeps the place of a member that nobody sees

	Readers int      // Held by readers: how many
	Owners  []string // the owners of the first readers: at most MostNamed

	Stored *Stored // Loaded: the value
}

// String returns all fields of e, for tests and traces.
func (e *Evidence) String() string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%q %s %v %v %v", e.Value, e.Off, e.Theirs, e.Ours, e.Stored)
}

// Value returns the text that belongs to the answer's cause, or "".
func (a Answer) Value() string {
	if a.Evidence == nil {
		return ""
	}
	return a.Evidence.Value
}

// NothingGranted reports whether the node is in a quarantine, and has granted nothing since its start, which was longer
// than a quarantine ago.
func (a Answer) NothingGranted() bool {
	return a.Verdict == Quarantined && (a.Cause == Unused || a.Cause == Idle)
}

// Difference is one setting that has different values on a node and in a client.
type Difference struct {
	Setting      string // such as "max-ttl"
	Theirs, Ours string // the values of the node and of the client; "" where one does not have the setting
}

// mostDifferences limits the list. A hostile node may answer any text as its configuration.
const mostDifferences = 16

// Differences compares two configurations in the form of [Config.String]. It returns the client's settings first, in
// their order.
func Differences(theirs, ours string) []Difference {
	var all []Difference
	find := func(setting string) *Difference {
		for i := range all {
			if all[i].Setting == setting {
				return &all[i]
			}
		}
		all = append(all, Difference{Setting: setting})
		return &all[len(all)-1]
	}
	for f := range strings.FieldsSeq(ours) {
		setting, value, _ := strings.Cut(f, "=")
		find(setting).Ours = value
	}
	for f := range strings.FieldsSeq(theirs) {
		if len(all) == 2*mostDifferences {
			break
		}
		setting, value, _ := strings.Cut(f, "=")
		find(setting).Theirs = value
	}
	out := all[:0]
	for _, d := range all {
		if d.Ours != d.Theirs && len(out) < mostDifferences {
			out = append(out, d)
		}
	}
	return out
}
