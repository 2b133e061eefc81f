package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A printed lease shows its name, token and deadline.
func TestAPrintedLeaseSaysNameTokenAndDeadline(t *testing.T) {
	t.Parallel()
	s := plainSet(t, 1)
	l := lock(t, s.ready(s.client()), "x")
	begins := fmt.Sprintf("lease of \"x\", fence %d, until 20", l.Fence())
	if text := fmt.Sprint(l); !strings.HasPrefix(text, begins) || strings.Contains(text, "ended") {
		t.Errorf("it prints as %q", text)
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", l); !strings.HasPrefix(text, begins) || !strings.HasSuffix(text, " (ended)") {
		t.Errorf("given back it prints as %q", text)
	}
}
