//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Command is what to run.
type Command struct {
	Path string   // see [Find]
	Args []string // the first is the command's own name
	Env  []string

	Stdin, Stdout, Stderr *os.File

	// Signals are forwarded to the group until the child is finished. Which ones come in
	// is up to the caller; [Ending] and [JobControl] are those that make sense.
	Signals <-chan os.Signal

	// Until is the lock's deadline. A command does not begin when it is over, and one that is continued stays
	// stopped. Nil: there is none.
	Until func() time.Time

	// Watchdog may be nil: see [StartWatchdog].
	Watchdog *Watchdog

	// Report tells people what is done to the group. It must not wait for them: the next
	// signal comes after it. Defaults to nothing.
	Report func(format string, args ...any)
}

// Child is a command that was started. Its methods are safe for concurrent use.
type Child struct {
	cmd    Command
	group  group
	tty    *terminal
	exited chan struct{} // closed when the command itself has ended
	exit   Exit          // once exited is closed

	finish    chan struct{} // closed by Finish
	forwarded chan struct{} // closed when nothing is forwarded any more

	// Without the lock, a TSTP that is forwarded just before the command is continued
	// to give it the terminal would be lost: CONT discards it.
	job         sync.Mutex
	suspended   bool // TSTP was forwarded, so the stop that follows is ours too
	interrupted bool // INT or QUIT was forwarded, so it was not from a key of a lent terminal
	passed      map[syscall.Signal]bool

	key syscall.Signal // for Relay, or 0
}

// Supported is why commands cannot be run on this system, or nil.
func Supported() error { return nil }

// Start starts the command as the leader of a new process group, unless its deadline is over: see starter.go. It looks
// at the deadline last. Errors match [ErrNotFound], [ErrNotExecutable] or [ErrLate], but for those of a system that
// can start no process at all. After Start, call [Child.Finish].
func Start(cmd Command) (*Child, error) {
	if cmd.Report == nil {
		cmd.Report = func(string, ...any) {}
	}
	c := &Child{
		cmd: cmd, tty: openTerminal(),
		exited: make(chan struct{}), finish: make(chan struct{}), forwarded: make(chan struct{}),
		passed: map[syscall.Signal]bool{},
	}
	started := make(chan error)
	go c.live(started)
	if err := <-started; err != nil {
		c.tty.takeBack(c.group)
		c.tty.close()
		return nil, err
	}
	return c, nil
}

// live starts the command and waits for it, all on one thread: Linux sends the
// parent-death signal when the thread ends that forked, and Go ends threads as it
// likes, but not one that a living goroutine has locked.
func (c *Child) live(started chan<- error) {
	runtime.LockOSThread()
	attr := &syscall.SysProcAttr{Setpgid: true}
	if c.cmd.Watchdog != nil {
		dieWithParent(attr, syscall.SIGTERM)
	} else {
		dieWithParent(attr, syscall.SIGKILL)
	}
	s, pid, err := startStarter(c.cmd, attr)
	if err != nil {
		started <- fmt.Errorf("%s: cannot be started: %w", c.cmd.Args[0], err)
		return
	}
	c.group = group(pid)
	c.cmd.Watchdog.guard(c.group, c.cmd.Until, s.noted)
	if isTerminal(c.cmd.Stdin) && isTerminal(c.cmd.Stdout) {
		c.tty.lend(c.group)
	}
	go c.forward()
	go func() { started <- c.release(s) }()
	c.exit = c.await(pid)
	close(c.exited)
}

// release has the starter become the command. After an error nobody of the group is left.
func (c *Child) release(s *starter) error {
	begun, late, err := s.release(c.cmd.Until)
	if begun {
		return nil
	}
	if late {
		c.cmd.Watchdog.ending()
		_ = c.group.signal(syscall.SIGKILL) // it may be stopped
	}
	<-c.exited
	if !late && err == nil && c.exit.Signal != 0 {
		return nil // somebody ended it as he would have ended the command
	}
	close(c.finish)
	<-c.forwarded
	c.cmd.Watchdog.guard(0, nil, noted{})
	switch {
	case late:
		return ErrLate
	case err != nil:
		return execError(c.cmd.Args[0], c.cmd.Path, err)
	}
	return fmt.Errorf("%s: cannot be started: what was to start it ended with %d", c.cmd.Args[0], c.exit.Status)
}

func (c *Child) await(pid int) Exit {
	for {
		var ws syscall.WaitStatus
		switch _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			c.cmd.Report("cannot wait for the command: %v", err)
			return Exit{Status: 255}
		case ws.Stopped():
			c.stopped(pid, ws.StopSignal())
		case ws.Signaled():
			return Exit{Signal: ws.Signal()}
		default:
			return Exit{Status: ws.ExitStatus()}
		}
	}
}

// forward passes signals on until Finish.
func (c *Child) forward() {
	defer close(c.forwarded)
	for {
		select {
		case <-c.finish:
			return
		case sig := <-c.cmd.Signals:
			c.pass(sig.(syscall.Signal))
		}
	}
}

func (c *Child) pass(sig syscall.Signal) {
	c.job.Lock()
	defer c.job.Unlock()
	c.suspended = sig == syscall.SIGTSTP
	c.interrupted = c.interrupted || sig == syscall.SIGINT || sig == syscall.SIGQUIT
	c.passed[sig] = true
	send := c.group.signal
	if sig == syscall.SIGCONT {
		send = func(syscall.Signal) error { return c.resume() }
	}
	if err := send(sig); err != nil {
		c.cmd.Report("cannot forward %s: %v", sig, err)
	}
}

// Exited is closed when the command itself has ended; others of its group may be left.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit is how the command ended, once [Child.Exited] is closed.
func (c *Child) Exit() Exit { return c.exit }

// Left reports whether anybody of the group is still there.
func (c *Child) Left() bool { return c.group.alive() }

// End ends the group: TERM, and KILL after grace. It returns when nobody is left.
func (c *Child) End(grace time.Duration) {
	c.cmd.Watchdog.ending()
	c.group.end(grace, c.cmd.Report)
	<-c.exited
}

// Finish takes the terminal back, stops forwarding and tells the watchdog. The group
// must have ended.
func (c *Child) Finish() {
	close(c.finish)
	<-c.forwarded
	c.cmd.Watchdog.dismiss()
	if c.tty.takeBack(c.group) {
		c.key = c.byKey()
	}
	c.tty.close()
}
