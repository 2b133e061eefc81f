package rueidisnode

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// Between the moment a connection breaks and the moment the link knows, a call may
// find rueidis about to dial. It must get errDown, unwrapped, and the call must go to
// the next connection.
func TestCallOnALinkThatJustBrokeGoesToTheNext(t *testing.T) {
	server := redistest.Start(t)
	n, err := New(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if r := n.Eval(t.Context(), `return 'first'`, node.Call{}); r.Err != nil {
		t.Fatal(r.Err)
	}
	l := n.live.Load()
	l.drop()
	redistest.Eventually(t, hungAfter, "rueidis would dial", func() bool {
		return l.client.Do(t.Context(), command("PING").Build()).NonRedisError() == errDown
	})
	l.broken.Store(false) // as that call saw it
	if r := n.Eval(t.Context(), `return 'second'`, node.Call{}); r.Value != "second" {
		t.Errorf("%q, %v", r.Value, r.Err)
	}
	if n.live.Load() == l {
		t.Error("still on the broken link")
	}
}

func TestLinksGiveWayWhenCallsAreLate(t *testing.T) {
	server := redistest.Start(t)
	n, err := New(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.Eval(t.Context(), `return 1`, node.Call{})
	l := n.live.Load()
	l.late.Store(maxLate - 1)
	n.Eval(t.Context(), `return 1`, node.Call{})
	if late := l.late.Load(); late != 0 {
		t.Errorf("%d late calls after an answer", late)
	}
	if l.broken.Load() {
		t.Error("a link that answers was given up")
	}
}
