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
// A terminal has one foreground group. Only that group gets Ctrl-C and Ctrl-Z, and only that group may read from the
// terminal. TTIN stops any other reader. The command has a group of its own, so this process must lend the terminal to
// it:
//
//   - If stdin and stdout are the terminal, this process lends it at once.
//   - Otherwise this process lends it when the command is stopped because it wants the terminal. To lend it at once would be
//     wrong for `holdfast run x -- make | less`: the pager is in the group of this process, and the kernel would stop it.
type terminal struct {
	tty  *os.File
	mu   sync.Mutex
	lent bool
}

func openTerminal() *terminal {
	// With O_NOCTTY, the terminal does not become the controlling terminal of this process.
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

// lend makes g the foreground group, if the group of this process has the terminal. It returns true if g is the
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
		return false // this process is a background job itself
	}
	// From now on this process may be in the background. There, TTOU would stop it when it takes the terminal back, so
	// it ignores TTOU. It does so only now, because the command would inherit an earlier setting.
	signal.Ignore(syscall.SIGTTOU)
	t.lent = t.setForeground(int(g)) == nil
	return t.lent
}

// takeBack undoes lend. It returns true if g had the terminal until now.
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
