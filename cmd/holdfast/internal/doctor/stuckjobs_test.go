package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/job"
)

// Jobs that no machine can run: the last tick is in the future, or the outcome is of a newer version.
func TestTheDoctorFindsJobsThatCannotRun(t *testing.T) {
	t.Parallel()
	w := newWard(t, 1)
	c := w.vote()
	if err := job.SetTick(t.Context(), c, "ahead", time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	lease := leasetest.Lock(t, c, "newer")
	if err := lease.Store(t.Context(), []byte(`{"holdfast_job":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := w.examine("jobs")
	for i, want := range []struct{ state, fix string }{
		{`"ahead": its last tick, `, "holdfast jobs --reset ahead"}, {`"newer": not readable, so this version does not run it: its outcome has the format 2`, "install the newer version"},
	} {
		if len(all) != 2 || all[i].Severity != Warn || !strings.HasPrefix(all[i].State, want.state) || !strings.HasPrefix(all[i].Fix, want.fix) {
			t.Errorf("%+v; want %s", all, want.state)
		}
	}
}
