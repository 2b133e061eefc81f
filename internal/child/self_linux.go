package child

import "os"

// self returns the path of this program. Where it was replaced or deleted since we began, as by an update while the
// lock was waited for, that is the kernel's own: another version need not understand us.
func self() (string, error) {
	const own = "/proc/self/exe"
	path, err := os.Executable()
	running, gone := os.Stat(own)
	if gone != nil {
		return path, err // no /proc
	}
	if there, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(there, running) {
		return path, nil
	}
	return own, nil
}
