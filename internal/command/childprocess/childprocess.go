//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/command/parentdeath"
)

// Command is a command to run.
type Command struct {
	Path string   // the path of the program: see [Find]
	Args []string // the first argument is the command's own name
	Env  []string

	Stdin, Stdout, Stderr *os.File

	// Signals are forwarded to the group until the child is finished. The caller decides which signals it sends here:
	// usually [Ending] and [JobControl].
	Signals <-chan os.Signal

	// Until returns the lock's deadline. After the deadline a command does not begin, and a stopped command is not
	// continued. Nil: there is no deadline.
	Until func() time.Time

	// Watchdog may be nil: see [StartWatchdog].
	Watchdog *Watchdog

	// Report receives messages for people about signals to the group. It must not block, because the next signal waits
	// for its return. Defaults to a function that does nothing.
	Report func(format string, args ...any)
}

// Child is a command that was started. Its methods are safe for concurrent use.
type Child struct {
	cmd    Command
	group  group
	tty    *terminal
	exited chan struct{} // this channel closes when the command itself has ended
	exit   Exit          // valid after exited is closed

	finish    chan struct{} // Finish closes this channel
	forwarded chan struct{} // this channel closes when signals are no longer forwarded

	// job orders signals and stops. Without it a forwarded TSTP could be lost: CONT discards TSTP, and this process
	// sends CONT when it gives the terminal to the command.
	job         sync.Mutex
	suspended   bool // TSTP was forwarded, so this process must stop too when the command stops
	interrupted bool // INT or QUIT was forwarded, so it did not come from a key of a lent terminal
	passed      map[syscall.Signal]bool

	key syscall.Signal // the signal for Relay; 0: none
}

// Supported returns the reason why this system cannot run commands, or nil.
func Supported() error { return nil }

// Start starts the command as the leader of a new process group, unless its deadline has passed: see starter.go. The
// check of the deadline is the last step. Errors match [ErrNotFound], [ErrNotExecutable] or [ErrLate], except if the
// system cannot start any process. After Start, call [Child.Finish].
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

// live starts the command and waits for it on one thread. This is necessary because Linux sends the parent-death signal
// when the thread that forked ends. Go may end any thread, except a thread that a living goroutine has locked.
func (c *Child) live(started chan<- error) {
	runtime.LockOSThread()
	attr := &syscall.SysProcAttr{Setpgid: true}
	if c.cmd.Watchdog != nil {
		parentdeath.Signal(attr, syscall.SIGTERM) // not KILL: the watchdog sends KILL after the grace period
	} else {
		parentdeath.Signal(attr, syscall.SIGKILL)
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

// release lets the starter become the command. If release returns an error, no process of the group is left.
func (c *Child) release(s *starter) error {
	begun, late, err := s.release(c.cmd.Until)
	if begun {
		return nil
	}
	if late {
		c.cmd.Watchdog.ending()
		_ = c.group.signal(syscall.SIGKILL) // the starter may be stopped, and KILL ends it anyway
	}
	<-c.exited
	if !late && err == nil && c.exit.Signal != 0 {
		return nil // a signal ended the starter, as the signal would have ended the command
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
	return fmt.Errorf("%s: cannot be started: the process that starts it ended with %d", c.cmd.Args[0], c.exit.Status)
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

// Exited returns a channel that closes when the command itself has ended. Other processes of its group may be left.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit returns the end of the command. It is valid after [Child.Exited] is closed.
func (c *Child) Exit() Exit { return c.exit }

// Left reports whether any process of the group is left.
func (c *Child) Left() bool { return c.group.alive() }

// End ends the group: it sends TERM, and KILL after grace. It returns when no process is left.
func (c *Child) End(grace time.Duration) {
	c.cmd.Watchdog.ending()
	c.group.end(grace, c.cmd.Report)
	<-c.exited
}

// Finish takes the terminal back, stops forwarding, and informs the watchdog. The group must have ended before the
// call.
func (c *Child) Finish() {
	close(c.finish)
	<-c.forwarded
	c.cmd.Watchdog.dismiss()
	if c.tty.takeBack(c.group) {
		c.key = c.byKey()
	}
	c.tty.close()
}
