package childprocess

import "os"

// self returns the path of this program. If the file was replaced or deleted after this process began, it returns the
// kernel's own path. An update may replace the file while this process waits for the lock, and the new version may not
// understand this one.
func self() (string, error) {
	const own = "/proc/self/exe"
	path, err := os.Executable()
	running, gone := os.Stat(own)
	if gone != nil {
		return path, err // there is no /proc
	}
	if there, missing := os.Stat(path); err == nil && missing == nil && os.SameFile(there, running) {
		return path, nil
	}
	return own, nil
}
