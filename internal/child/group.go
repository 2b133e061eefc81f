//go:build unix

package child

import (
	"errors"
	"syscall"
	"time"
)

// group is a process group, named by its leader's process id. The kernel does not
// give the number to anybody else while the group has a member.
type group int

// signal sends to every member. Nobody there is no error.
func (g group) signal(sig syscall.Signal) error {
	if err := syscall.Kill(-int(g), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// alive reports whether any member still runs. A zombie does not: in a container
// whose first process reaps nobody, orphans stay zombies for ever.
func (g group) alive() bool { return alive(g.exists, g.members) }

func (g group) exists() bool { return !errors.Is(syscall.Kill(-int(g), 0), syscall.ESRCH) }

// alive believes that nobody but zombies is left when two looks agree: members are looked
// at one after the other, and one that forks and ends meanwhile is seen as a zombie, its
// child not at all.
func alive(exists func() bool, members func() (running, zombies int)) bool {
	for before := 0; exists(); {
		running, zombies := members()
		switch {
		case running > 0:
			return true
		case zombies == 0: // they have just been reaped, or cannot be seen here
			return exists()
		case zombies == before:
			return false
		}
		before = zombies
	}
	return false
}

// stuckAfter is when a group that does not die of KILL is reported.
const stuckAfter = 5 * time.Second

// end sends TERM, and KILL to what is left after grace; it returns when nobody is
// left. What there is to report comes after the signal: who reports may be slow. That it
// waits for ever where KILL does not help (a disk that hangs) is meant: until the kernel
// lets go of it, the process may still write.
func (g group) end(grace time.Duration, report func(format string, args ...any)) {
	err := g.signal(syscall.SIGTERM)
	_ = g.signal(syscall.SIGCONT) // a stopped process would keep its TERM for later
	if err != nil {
		report("cannot end process group %d: %v; waiting for it", g, err)
	}
	if g.gone(grace) {
		return
	}
	g.kill(grace, report)
}

// kill sends KILL to a group that got TERM longer ago than grace; it returns when nobody
// is left.
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

// gone waits for at most d until nobody is left. It polls: the kernel tells a parent
// of its children only, and these may be anybody's.
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
