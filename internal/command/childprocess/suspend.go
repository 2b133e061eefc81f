//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// While the terminal is lent, Ctrl-Z reaches only the command's group. But each process that waits for holdfast must
// notice it too: the shell, a script that calls holdfast, an outer run. So this process stops as the key would have
// stopped it: it sends the same signal to its whole group. The lock is not renewed while this process is stopped, so
// resume checks whether the lock is still valid.
//
// If no process could continue the group of this process, the kernel does not stop it. Such a group is orphaned, as
// under `ssh -t host holdfast run …`, or this process is the first process of a container. Then the command continues
// to run, as it would without holdfast. (SIGSTOP is not an alternative. The kernel never ignores SIGSTOP, so holdfast
// would hang. An outer run also could not see whether SIGSTOP was sent to holdfast alone.)

// unstoppable is the time without CONT after which this process assumes that the kernel ignored a stop. If the kernel
// was only slow, there is no harm: this process then catches the stop and forwards it.
const unstoppable = 100 * time.Millisecond

// stopped handles a stop of the command by sig.
func (c *Child) stopped(pid int, sig syscall.Signal) {
	c.job.Lock()
	defer c.job.Unlock()
	if runsOn(pid) {
		return // the command was continued while this goroutine waited for the mutex
	}
	ours := c.suspended
	c.suspended = false
	wants := sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
	switch {
	case ours:
		// The sender of TSTP has decided which other processes get it.
		c.suspend(os.Getpid(), syscall.SIGTSTP)
	case wants && c.tty.lend(c.group):
		_ = c.group.signal(syscall.SIGCONT)
	case wants && c.tty != nil:
		// suspend sends TTIN here and not TTOU, because this process may ignore TTOU: see lend.
		c.suspend(0, syscall.SIGTTIN)
	case sig == syscall.SIGTSTP && c.tty != nil:
		c.suspend(0, sig)
	}
	// In all other cases a user stopped only the command, and no shell could continue this process. So this process
	// runs on and keeps the lock.
}

// suspend sends sig to the target that the argument to names for kill. The target includes this process. suspend
// returns when this process is continued. Until then the mutex blocks the forwarding of CONT, so that the command
// cannot run while TSTP would stop only this process.
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
	for range 2 { // the first timer may have fired only because this process was stopped
		select {
		case <-cont:
			return
		case <-time.After(unstoppable / 2):
		}
	}
	if sig == syscall.SIGTTIN {
		// There is no retry, because the command would want the terminal again at once.
		c.cmd.Report("the command needs the terminal, but nobody can give it the terminal; it stays stopped")
		return
	}
	_ = c.resume()
}

// resume continues a stopped command. It does nothing if the lock has ended, because the command must not run for even
// an instant, and the caller is about to end it.
func (c *Child) resume() error {
	if c.cmd.Until != nil && !time.Now().Before(c.cmd.Until()) {
		return nil
	}
	if isTerminal(c.cmd.Stdin) && isTerminal(c.cmd.Stdout) {
		c.tty.lend(c.group)
	}
	return c.group.signal(syscall.SIGCONT)
}
