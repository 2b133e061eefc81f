//go:build !(linux || darwin || freebsd || openbsd)

package demo

import (
	"errors"
	"os"
	"os/exec"
)

// supported is false: this package has no code to freeze processes and to compare their clocks on this platform.
const supported = false

var errPlatform = errors.New("not on this platform")

func monotonic() int64         { return 0 }
func freeze(*os.Process) error { return errPlatform }
func thaw(*os.Process) error   { return errPlatform }
func ownGroup(*exec.Cmd)       {}
