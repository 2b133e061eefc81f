package childprocess

import "syscall"

// Exit says how a command ended.
type Exit struct {
	Status int            // the exit status, if Signal is 0
	Signal syscall.Signal // the signal that ended the command; 0: none
}

// Code returns the status that a shell would report: the exit status, or 128 + the signal's number.
func (e Exit) Code() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Status
}
