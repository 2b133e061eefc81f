//go:build unix

package childprocess

import (
	"errors"
	"syscall"
	"time"
)

// group is a process group. Its value is the process id of its leader. The kernel does not reuse that number while the
// group has a member.
type group int

// signal sends sig to every member of the group. If the group has no members, signal returns nil.
func (g group) signal(sig syscall.Signal) error {
	if err := syscall.Kill(-int(g), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// alive reports whether a member still runs. A zombie does not run. In a container whose first process does not wait
// for children, orphans stay zombies for ever.
func (g group) alive() bool { return alive(g.exists, g.members) }

func (g group) exists() bool { return !errors.Is(syscall.Kill(-int(g), 0), syscall.ESRCH) }

// alive returns false if two looks in a row find no running member and the same number of zombies. One look is not
// enough, because it finds the processes one after the other. If a member forks and then ends during the look, the
// look may count the member as a zombie and miss its child.
func alive(exists func() bool, members func() (running, zombies int)) bool {
	for before := 0; exists(); {
		running, zombies := members()
		switch {
		case running > 0:
			return true
		case zombies == 0: // a parent has just waited for the zombies, or /proc does not show them
			return exists()
		case zombies == before:
			return false
		}
		before = zombies
	}
	return false
}

// stuckAfter is the time after KILL at which end reports a group that is still alive.
const stuckAfter = 5 * time.Second

// end sends TERM to all members. After grace it sends KILL to the rest. It returns when no member is left. It
// reports after it has sent the signals, because report may be slow. If KILL does not help, for example because a disk
// hangs, end waits for ever. This is intended: the process may still write when the disk works again.
func (g group) end(grace time.Duration, report func(format string, args ...any)) {
	err := g.signal(syscall.SIGTERM)
	_ = g.signal(syscall.SIGCONT) // without CONT, a stopped process would not handle TERM before it is continued
	if err != nil {
		report("cannot end process group %d: %v; waiting for it", g, err)
	}
	if g.gone(grace) {
		return
	}
	g.kill(grace, report)
}

// kill sends KILL to a group that got TERM at least grace ago. It returns when no member is left.
func (g group) kill(grace time.Duration, report func(format string, args ...any)) {
	_ = g.signal(syscall.SIGKILL)
	report("process group %d is still there %s after TERM: killing it", g, grace.Round(time.Millisecond))
	if !g.gone(stuckAfter) {
		report("process group %d does not die; waiting for it", g)
		for !g.gone(time.Minute) {
			_ = g.signal(syscall.SIGKILL)
		}
	}
}

// gone waits until no member is left, for at most d, and reports whether that is so. It must poll, because the kernel
// tells a process only about the end of its own children.
func (g group) gone(d time.Duration) bool {
	pause := time.Millisecond
	for deadline := time.Now().Add(d); g.alive(); pause = min(2*pause, 20*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}
