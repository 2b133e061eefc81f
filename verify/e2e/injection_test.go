package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A foreign value on a node, or the label of another client, must not control the terminal or the log. No line of it
// may look like a line of Holdfast.
func TestTheLabelOfAnotherForgesNoLine(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	c := s.ready(s.client())
	now := time.Now().UnixMicro()
	for _, label := range []string{"web\x1b[2K\rholdfast: free", "a\nholdfast: granted", "\u009b31m", "web-1 for up to 1s; redis://x: granted"} {
		r := nodescript.Record{Seen: now, Token: now, Expiry: now + 60_000_000, Owner: label + "~c~1-1"}
		s.servers[0].MustDo(t, "SET", nodescript.RecordKey("x"), r.String())
		_, err := c.Mutex("x").TryLock(t.Context())
		var held *holdfast.HeldError
		if !errors.As(err, &held) {
			t.Fatalf("%q: %v, want ErrHeld", label, err)
		}
		for _, said := range []string{err.Error(), held.Holder().String(), held.Nodes[0].String()} {
			if strings.ContainsAny(said, "\x1b\r\n\u009b") || strings.Contains(said, "held by web-1 for") {
				t.Errorf("%q is told as %q", label, said)
			}
		}
		if held.Holder().Owner != r.Owner {
			t.Errorf("a program gets the owner %q, want %q as it is", held.Holder().Owner, r.Owner)
		}
	}
}
