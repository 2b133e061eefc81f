package fence_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

type sharedLease struct {
	lease
	shared bool
}

func (l sharedLease) Shared() bool { return l.shared }

// A token has the mode of its lease.
func TestATokenHasTheModeOfItsLease(t *testing.T) {
	for _, c := range []struct {
		of   interface{ Fence() int64 }
		want fence.Mode
	}{
		{lease(7), fence.Writer}, {sharedLease{lease(7), false}, fence.Writer}, {sharedLease{lease(7), true}, fence.Reader},
	} {
		if got := fence.Of(c.of); got != (fence.Token{Fence: 7, Mode: c.want}) {
			t.Errorf("%v has the %s, want a %s", c.of, got, c.want)
		}
	}
}
