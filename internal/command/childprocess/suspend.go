//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// While the terminal is lent, Ctrl-Z reaches only the command's group. But a process that waits for holdfast must
// notice it too: the shell, a script that calls holdfast, an outer run. So this process stops as the key would have
// stopped it: it sends the same signal to its whole group. Nobody renews the lock meanwhile, and resume checks whether
// the lock is still valid.
//
// If nobody could continue the group of this process, the kernel does not stop it. Such a group is orphaned, as under
// `ssh -t host holdfast run …`, or this process is the first one of a container. Then the command runs on, as it would
// without holdfast. (SIGSTOP is not an alternative: the kernel never ignores it, so holdfast would hang. An outer run
// also could not distinguish it from a signal that stopped holdfast alone.)

// unstoppable is the time without CONT after which this process assumes that the kernel ignored a stop. If the kernel
// was only slow, there is no harm: the stop is then caught and forwarded.
const unstoppable = 100 * time.Millisecond

// stopped handles a stop of the command by sig.
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
		// The sender of TSTP has decided who else gets it.
		c.suspend(os.Getpid(), syscall.SIGTSTP)
	case wants && c.tty.lend(c.group):
		_ = c.group.signal(syscall.SIGCONT)
	case wants && c.tty != nil:
		// The signal is not TTOU, which this process may ignore: see lend.
		c.suspend(0, syscall.SIGTTIN)
	case sig == syscall.SIGTSTP && c.tty != nil:
		c.suspend(0, sig)
	}
	// Otherwise somebody stopped the command alone, and no shell could continue this process. So it runs on and keeps
	// the lock.
}

// suspend sends sig to the target of kill's argument to, which includes this process. It returns when this process is
// continued. Until then the mutex blocks the forwarding of CONT. So the command cannot run while TSTP would stop only
// this process.
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
	for range 2 { // the first timer may be over only because we were stopped
		select {
		case <-cont:
			return
		case <-time.After(unstoppable / 2):
		}
	}
	if sig == syscall.SIGTTIN {
		// No retry: the command would want the terminal again at once.
		c.cmd.Report("the command needs the terminal, but nobody can give it the terminal; it stays stopped")
		return
	}
	_ = c.resume()
}

// resume continues a stopped command. It does nothing if the lock is over: the command must not run for even an
// instant, and the caller is about to end it.
func (c *Child) resume() error {
	if c.cmd.Until != nil && !time.Now().Before(c.cmd.Until()) {
		return nil
	}
	if isTerminal(c.cmd.Stdin) && isTerminal(c.cmd.Stdout) {
		c.tty.lend(c.group)
	}
	return c.group.signal(syscall.SIGCONT)
}
