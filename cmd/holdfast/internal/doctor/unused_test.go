package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// keys returns the names of all keys of a server.
func (w *ward) keys(i int) []any {
	w.t.Helper()
	return w.servers[i].MustDo(w.t, "KEYS", "*").([]any)
}

// The doctor leaves no key on servers that no client has used: a wrong list would bind them.
func TestTheDoctorChangesNothingOnNewServers(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	for i := range w.servers {
		w.do(i, "FLUSHALL")
	}
	all := Findings(w.examine())
	for i := range w.servers {
		if keys := w.keys(i); len(keys) > 0 {
			t.Errorf("server %d has %v", i, keys)
		}
		if !slices.ContainsFunc(all, func(f Finding) bool {
			return f.Check == "votes" && f.Severity == Warn && f.Node == w.urls[i]+"/0" && strings.HasPrefix(f.State, "was never used: ") && strings.Contains(f.Fix, "up to 20.25s")
		}) {
			t.Errorf("nothing about server %d in %+v", i, all)
		}
	}
	for _, f := range all {
		if f.Severity == Bad || strings.Contains(f.State, "bear") && f.Severity > Note {
			t.Errorf("nothing is wrong with a new set: %+v", f)
		}
	}
}

// A new server among nodes that vote stays new, and the others are examined as usual.
func TestANewServerAmongUsedOnesStaysNew(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	w.vote()
	fresh := redistest.Start(t)
	fresh.MustDo(t, "FLUSHALL")
	w.servers[2], w.urls[2] = fresh, fresh.URL()
	w.client.Cluster = "other"
	all := w.examine("votes", "settings", "count")
	if keys := w.keys(2); len(keys) > 0 {
		t.Errorf("the new server has %v", keys)
	}
	if w.do(0, "HGET", nodescript.AdmissionKey, "config"); len(w.keys(0)) == 0 {
		t.Error("a node that votes has no record")
	}
	var said []string
	for _, f := range all {
		said = append(said, f.Check+" "+f.Node+" "+f.State)
	}
	if text := strings.Join(said, "\n"); strings.Count(text, "was never used: ") != 1 || strings.Count(text, "settings "+w.urls[2]+"/0 not known: the node was never used") != 1 ||
		strings.Count(text, "cluster=ward") != 2 {
		t.Error(text)
	}
}
