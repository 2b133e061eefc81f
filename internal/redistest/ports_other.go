//go:build !(linux || darwin || freebsd || openbsd || netbsd)

package redistest

import "os"

// lockFile locks nothing: the tests on real servers need Unix.
func lockFile(*os.File) error { return nil }
