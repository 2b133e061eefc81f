//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// While the terminal is lent, Ctrl-Z reaches the command's group only. But who waits for
// us, and not for the command, is to see it too: the shell, a script that calls us, an
// outer run. So we stop as the key would have made us: by the same signal, sent to our
// whole group. The lock is not renewed meanwhile; resume looks whether it is still there.
//
// Where nobody could continue our group the kernel does not stop it: it is orphaned, as
// under `ssh -t host holdfast run …`, or we are a container's first process. Then the
// command runs on, as it would without us. (SIGSTOP, which the kernel never ignores,
// would hang there. Nor would it tell an outer run from somebody who stopped us alone.)

// unstoppable is after what time without CONT the kernel is taken to have ignored a stop.
// If it had not, and is slow, no harm is done: the stop is then caught and forwarded.
const unstoppable = 100 * time.Millisecond

// stopped is called when the command was stopped by sig.
func (c *Child) stopped(pid int, sig syscall.Signal) {
	c.job.Lock()
	defer c.job.Unlock()
	if runsOn(pid) {
		return // it was continued while we waited for the mutex
	}
	ours := c.suspended
	c.suspended = false
	wants := sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
	switch {
	case ours:
		// Whoever sent TSTP to us has decided who else gets it.
		c.suspend(os.Getpid(), syscall.SIGTSTP)
	case wants && c.tty.lend(c.group):
		_ = c.group.signal(syscall.SIGCONT)
	case wants && c.tty != nil:
		// Not by TTOU, which we may ignore: see lend.
		c.suspend(0, syscall.SIGTTIN)
	case sig == syscall.SIGTSTP && c.tty != nil:
		c.suspend(0, sig)
	}
	// Or somebody stopped the command alone, and there is no shell that could continue us:
	// stay and keep the lock.
}

// suspend stops whom kill means by to, which includes us, and returns when we are
// continued. Until then the mutex keeps CONT from being forwarded, and so the command from
// running while TSTP would stop us alone.
func (c *Child) suspend(to int, sig syscall.Signal) {
	c.tty.takeBack(c.group)
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	catch, err := dontCatch(sig)
	if err != nil {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return
	}
	defer catch()
	_ = syscall.Kill(to, sig)
	for range 2 { // the first may be over because we were stopped for so long
		select {
		case <-cont:
			return
		case <-time.After(unstoppable / 2):
		}
	}
	if sig == syscall.SIGTTIN {
		// Not again and again: it would want the terminal at once.
		c.cmd.Report("the command wants the terminal, which nobody can give it; it stays stopped")
		return
	}
	_ = c.resume()
}

// resume continues a stopped command, unless its lock is over: then it must not run
// on, not even for an instant; the caller is about to end it.
func (c *Child) resume() error {
	if c.cmd.Until != nil && !time.Now().Before(c.cmd.Until()) {
		return nil
	}
	if isTerminal(c.cmd.Stdin) && isTerminal(c.cmd.Stdout) {
		c.tty.lend(c.group)
	}
	return c.group.signal(syscall.SIGCONT)
}
