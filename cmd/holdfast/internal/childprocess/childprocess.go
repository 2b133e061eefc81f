//go:build unix

package childprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// Command is a command to run.
type Command struct {
	Path string   // the path of the program: see [Find]
	Args []string // the first argument is the name that the command sees as its own
	Env  []string

	Stdin, Stdout, Stderr *os.File

	// Dir is the folder in which the command begins. Defaults to that of this process.
	Dir string

	// Within bounds the start. If it ends before the command has begun, Start returns its cause: a file server that
	// hangs may keep the process from entering Dir. If it ends later, nothing happens. Defaults to no bound.
	Within context.Context

	// User is the user as which the command runs: see [LookUpUser]. It gets no open files but the three above. Defaults
	// to the user of this process.
	User *User

	// Signals are forwarded to the command's process group until the command has ended. The caller decides which
	// signals it sends to this channel: usually [Ending] and [JobControl].
	Signals <-chan os.Signal

	// Until returns the lock's deadline. After the deadline a command does not begin, and a stopped command is not
	// continued. nil: there is no deadline.
	Until func() time.Time

	// Watchdog ends the command if this process cannot: see [StartWatchdog]. It may be nil.
	Watchdog *Watchdog

	// Report receives messages for people about signals to the group. It must not block, because the next signal has
	// to wait until Report returns. Defaults to a function that does nothing.
	Report func(format string, args ...any)
}

// Child is a command that was started. Its methods are safe for concurrent use.
type Child struct {
	cmd    Command
	group  group
	tty    *terminal
	exited chan struct{} // closes when the command itself has ended
	exit   Exit          // valid after exited has closed

	finish    chan struct{} // Finish closes this channel
	forwarded chan struct{} // closes when signals are no longer forwarded

	// job makes signals and stops happen one after the other. Without it, a TSTP that was forwarded could be lost:
	// this process sends CONT when it gives the terminal to the command, and the kernel drops a TSTP that waits when
	// CONT comes.
	job         sync.Mutex
	suspended   bool // TSTP was forwarded, so this process must also stop when the command stops
	interrupted bool // INT or QUIT was forwarded, so the signal did not come from a key on the lent terminal
	passed      map[syscall.Signal]bool

	key syscall.Signal // the signal that Relay sends; 0: none
}

// Supported returns nil if this system can run commands, otherwise the reason why it cannot.
func Supported() error { return nil }

// Start starts the command as the leader of a new process group, unless its deadline has passed. The check of the
// deadline is the last step: see starter.go. Errors match [ErrNotFound], [ErrNotExecutable] or [ErrLate], except if
// the system cannot start any process, if the command cannot enter its folder, or if Within ended. If the error is nil, call [Child.Finish] in the end.
func Start(cmd Command) (*Child, error) {
	if cmd.Within == nil {
		cmd.Within = context.Background()
	}
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

// live starts the command and waits for it, on one locked thread. Linux sends the parent-death signal when the thread
// that started the process ends. Go may end any thread, except one that a goroutine has locked. Without the lock, the
// command could be killed while this process lives.
func (c *Child) live(started chan<- error) {
	runtime.LockOSThread()
	attr := &syscall.SysProcAttr{Setpgid: true}
	if c.cmd.Watchdog != nil {
		parentdeath.Signal(attr, syscall.SIGTERM) // not KILL, because the watchdog sends KILL after the grace period
	} else {
		parentdeath.Signal(attr, syscall.SIGKILL)
	}
	c.cmd.User.set(attr)
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

// release lets the starter become the command. If it returns an error, the group has no process left.
func (c *Child) release(s *starter) error {
	begun, late, err := s.release(c.cmd.Within, c.cmd.Until)
	if begun {
		return nil
	}
	var outside enterError
	isOutside := errors.As(err, &outside)
	abandoned := err != nil && !isOutside && errors.Is(err, context.Cause(c.cmd.Within))
	if late || abandoned {
		c.cmd.Watchdog.ending()
		_ = c.group.signal(syscall.SIGKILL) // the starter may be stopped, and only KILL ends a stopped process
	}
	if abandoned { // it got no message, so it never begins the command, even if KILL comes late
		select {
		case <-c.exited:
		case <-time.After(stuckAfter):
		}
	} else {
		<-c.exited
	}
	if !late && err == nil && c.exit.Signal != 0 { // the same signal would have ended the command
		return nil // a signal ended the starter, as the signal would have ended the command
	}
	close(c.finish)
	<-c.forwarded
	c.cmd.Watchdog.guard(0, nil, noted{})
	switch {
	case late:
		return ErrLate
	case abandoned:
		return fmt.Errorf("%s: cannot be started: %w", c.cmd.Args[0], err)
	case isOutside:
		return fmt.Errorf("%s: cannot be started: its user cannot enter %s: %w", c.cmd.Args[0], c.cmd.Dir, outside.Errno)
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

// forward passes the signals on until Finish is called.
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

// Exited returns a channel that closes when the command itself has ended. Other processes of its group may still run.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit returns how the command ended. Call it after [Child.Exited] has closed.
func (c *Child) Exit() Exit { return c.exit }

// Left reports whether a process of the group still runs.
func (c *Child) Left() bool { return c.group.alive() }

// End ends the group: it sends TERM, and KILL after the time grace. It returns when no process is left.
func (c *Child) End(grace time.Duration) {
	c.cmd.Watchdog.ending()
	c.group.end(grace, c.cmd.Report)
	<-c.exited
}

// Finish takes the terminal back, stops forwarding, and tells the watchdog that the group has ended. Call it only
// after the group has ended.
func (c *Child) Finish() {
	close(c.finish)
	<-c.forwarded
	c.cmd.Watchdog.dismiss()
	if c.tty.takeBack(c.group) {
		c.key = c.byKey()
	}
	c.tty.close()
}
