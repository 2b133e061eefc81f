package childprocess

import "syscall"

// Exit is the end of a command.
type Exit struct {
	Status int            // its exit status, if Signal is 0
	Signal syscall.Signal // the signal that ended it, or 0
}

// Code returns the status that a shell would report: the exit status, or 128 + the signal's number.
func (e Exit) Code() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Status
}
