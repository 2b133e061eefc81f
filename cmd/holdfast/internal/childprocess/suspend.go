//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// While the terminal is lent, Ctrl-Z stops only the command's group. But all processes that wait for holdfast must
// stop, too: the shell, a script that calls holdfast, or an outer run. So this process does what the key would have
// done: it sends the same signal to its whole group, and stops. A stopped process does not renew its lock, so resume
// checks whether the lock is still valid.
//
// The kernel does not stop a group that no process could continue, such as the group of holdfast under `ssh -t host
// holdfast run …`. It also does not stop the first process of a container. Then the command continues to run, as it
// would without holdfast. SIGSTOP would not be better. The kernel always obeys SIGSTOP, so holdfast would hang. And an
// outer run could not see whether only holdfast got the SIGSTOP.

// unstoppable is the time after which this process concludes that the kernel ignored a stop, if no CONT came. If the
// kernel was only slow, this process later catches the stop and forwards it.
const unstoppable = 100 * time.Millisecond

// stopped handles a stop of the command by sig.
func (c *Child) stopped(pid int, sig syscall.Signal) {
	c.job.Lock()
	defer c.job.Unlock()
	if runsOn(pid) {
		return // the command was continued before this goroutine got the mutex
	}
	ours := c.suspended
	c.suspended = false
	wants := sig == syscall.SIGTTIN || sig == syscall.SIGTTOU
	switch {
	case ours:
		// The stop comes from a TSTP that was forwarded. Its sender chose which processes get it, so only this process
		// stops, too.
		c.suspend(os.Getpid(), syscall.SIGTSTP)
	case wants && c.tty.lend(c.group):
		_ = c.group.signal(syscall.SIGCONT)
	case wants && c.tty != nil:
		// suspend sends TTIN and never TTOU, because this process may ignore TTOU: see lend.
		c.suspend(0, syscall.SIGTTIN)
	case sig == syscall.SIGTSTP && c.tty != nil:
		c.suspend(0, sig)
	}
	// If no case of the switch applies, a user has stopped only the command, and no shell would continue this process.
	// So this process does not stop, and keeps the lock.
}

// suspend stops this process. It sends sig to this process, or to its whole group if the parameter to is 0. It returns
// when this process is continued. Until then c.job keeps CONT from being forwarded. Otherwise the command could run
// while this process is stopped and does not renew the lock.
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
	for range 2 { // the first timer may fire only because this process was stopped for long
		select {
		case <-cont:
			return
		case <-time.After(unstoppable / 2):
		}
	}
	if sig == syscall.SIGTTIN {
		// The command is not continued here: it wants the terminal, and would be stopped again at once.
		c.cmd.Report("the command needs the terminal, but nobody can give it the terminal; it stays stopped")
		return
	}
	_ = c.resume()
}

// resume continues a stopped command. If the lock has ended, it does nothing: the command must not run any more, and
// the caller is about to end it.
func (c *Child) resume() error {
	if c.cmd.Until != nil && !time.Now().Before(c.cmd.Until()) {
		return nil
	}
	if isTerminal(c.cmd.Stdin) && isTerminal(c.cmd.Stdout) {
		c.tty.lend(c.group)
	}
	return c.group.signal(syscall.SIGCONT)
}
