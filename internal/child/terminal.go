//go:build unix

package child

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal, or nil where there is none.
//
// A terminal has one foreground group: it gets Ctrl-C and Ctrl-Z and may read; a
// reader outside it is stopped with TTIN. The command is in a group of its own, so it
// must be made the foreground:
//
//   - at once where stdin and stdout are the terminal;
//   - as soon as it is stopped for wanting the terminal, otherwise. Not at once: in
//     `holdfast run x -- make | less` the pager is in our group and would be stopped
//     in the command's place.
type terminal struct {
	tty  *os.File
	mu   sync.Mutex
	lent bool
}

func openTerminal() *terminal {
	// O_NOCTTY: looking must not make it ours.
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	return &terminal{tty: tty}
}

func (t *terminal) foreground() (int, error) {
	return unix.IoctlGetInt(int(t.tty.Fd()), unix.TIOCGPGRP)
}

func (t *terminal) setForeground(g int) error {
	return unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCSPGRP, g)
}

// lend makes g the foreground group if ours is, and reports whether g is now.
func (t *terminal) lend(g group) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch now, err := t.foreground(); {
	case err != nil:
		return false
	case now == int(g):
		return true
	case now != syscall.Getpgrp():
		return false // we are a background job ourselves
	}
	// From now on we may be in the background ourselves, where taking the terminal back
	// would stop us. Not earlier: the command would inherit it.
	signal.Ignore(syscall.SIGTTOU)
	t.lent = t.setForeground(int(g)) == nil
	return t.lent
}

// takeBack undoes lend, and reports whether g had the terminal.
func (t *terminal) takeBack(g group) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.lent {
		return false
	}
	t.lent = false
	now, err := t.foreground()
	return err == nil && now == int(g) && t.setForeground(syscall.Getpgrp()) == nil
}

func (t *terminal) close() {
	if t != nil {
		_ = t.tty.Close()
	}
}

func isTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil
}
