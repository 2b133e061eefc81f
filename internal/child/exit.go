package child

import "syscall"

// Exit is how a command ended.
type Exit struct {
	Status int            // its exit status, if Signal is 0
	Signal syscall.Signal // what ended it, or 0
}

// Code is what a shell would report: the exit status, or 128 + the signal's number.
func (e Exit) Code() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Status
}
