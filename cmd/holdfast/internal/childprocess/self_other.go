//go:build unix && !linux

package childprocess

import "os"

// self returns the path of this program.
func self() (string, error) { return os.Executable() }

// ownProgram returns "", because there is no path that each process may use.
func ownProgram() string { return "" }
