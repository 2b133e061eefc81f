//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal, or nil if there is none.
//
// A terminal has one foreground group. Only that group gets Ctrl-C and Ctrl-Z, and only that group may read; TTIN stops
// any other reader. The command is in its own group, so this process must make that group the foreground group:
//
//   - If stdin and stdout are the terminal, this happens at once.
//   - Otherwise it happens when the command is stopped because it wants the terminal. It does not happen at once. In
//     `holdfast run x -- make | less` the pager is in the group of this process, and would be stopped instead of the
//     command.
type terminal struct {
	tty  *os.File
	mu   sync.Mutex
	lent bool
}

func openTerminal() *terminal {
	// O_NOCTTY prevents that the terminal becomes the controlling terminal of this process.
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

// lend makes g the foreground group if the group of this process is the foreground group. It reports whether g is the
// foreground group now.
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
		return false // this process itself is a background job
	}
	// From now on this process may be in the background, where TTOU would stop it when it takes the terminal back. It
	// ignores TTOU only from here on, because the command would inherit an earlier setting.
	signal.Ignore(syscall.SIGTTOU)
	t.lent = t.setForeground(int(g)) == nil
	return t.lent
}

// takeBack undoes lend. It reports whether g had the terminal before.
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
