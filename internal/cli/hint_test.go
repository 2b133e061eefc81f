package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/aside"
)

// The hint to vouch for nodes in quarantine causes two holders if a lock is alive. A wait that met a holder does not
// show the hint.
func TestAWaitThatMetAHolderDoesNotHintToVouch(t *testing.T) {
	quarantined := &holdfast.UnavailableError{Name: "x", Nodes: []holdfast.NodeAnswer{
		{Node: "a", Reason: holdfast.ReasonQuarantined, Cause: holdfast.CauseNew, VotesIn: 9 * time.Second},
	}}
	for met, held := range map[string]error{"nobody": nil, "a holder": &holdfast.HeldError{Name: "x", Owner: "web-3~1~2~3", ExpiresIn: 9 * time.Second}} {
		var out bytes.Buffer
		w := &waiter{talker: newTalker(&out), name: "x", trust: "holdfast nodes trust", give: func(error) {}}
		if held != nil {
			w.refused(held)
		}
		w.refused(context.DeadlineExceeded)
		w.refused(quarantined)
		w.lines.Wait(aside.Forever)
		if hinted := strings.Contains(out.String(), "nodes trust"); hinted != (held == nil) {
			t.Errorf("met %s: it said %q", met, out.String())
		}
	}
}
