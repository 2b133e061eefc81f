//go:build !(linux || darwin || freebsd || openbsd)

package demo

import (
	"errors"
	"os"
	"os/exec"
)

// supported is false because the demo freezes processes and compares their clocks, and has no code for this platform.
const supported = false

var errPlatform = errors.New("not on this platform")

func monotonic() int64         { return 0 }
func freeze(*os.Process) error { return errPlatform }
func thaw(*os.Process) error   { return errPlatform }
func ownGroup(*exec.Cmd)       {}
