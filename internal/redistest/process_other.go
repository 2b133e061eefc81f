//go:build !linux

package redistest

import (
	"errors"
	"os"
	"testing"
)

var errNeedsLinux = errors.New("needs Linux")

func freeze(*os.Process) error { return errNeedsLinux }
func thaw(*os.Process) error   { return errNeedsLinux }

// DeadEnd returns an address where dialling hangs. It needs Linux.
func DeadEnd(t testing.TB) string {
	t.Helper()
	t.Fatal("redistest: DeadEnd: ", errNeedsLinux)
	return ""
}
