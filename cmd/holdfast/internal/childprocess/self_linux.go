package childprocess

import "os"

// self returns the path of this program. An update may replace the program's file while this process waits for the
// lock, and the new version may not understand messages of this one. If the file was replaced or deleted, self returns
// a path of the kernel that still leads to the old program.
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

// ownProgram returns a path of the kernel that leads to this program in each process that runs it, "" if there is none.
func ownProgram() string {
	const own = "/proc/self/exe"
	if _, err := os.Stat(own); err != nil {
		return ""
	}
	return own
}
