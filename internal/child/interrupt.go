//go:build unix

package child

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A shell script ends when somebody presses Ctrl-C if two things are true, which is
// known as wait and cooperative exit (https://www.cons.org/cracauer/sigint.html; bash
// keeps to it): its shell got INT, and what it waited for died of INT. So a script that
// calls us needs both:
//
//   - INT for the shell's group, which is ours. While the terminal is lent, the key
//     reaches the command's group only; [Child.Relay].
//   - That we die of it, too. An exit status of 130 says that somebody dealt with the
//     key, as an editor does, and the script goes on; [Interrupt].

// Relay sends our own process group the INT or QUIT of which the command died, if
// nobody but the command's group can have got it: it came from the key while the
// terminal was lent. It ends our caller, so call it when all else is done.
func (c *Child) Relay() {
	if c.key != 0 && !signal.Ignored(c.key) {
		_ = syscall.Kill(0, c.key)
	}
}

// EndedBy is the signal by which somebody ended the command, or 0 if it ended by itself.
// Call it after [Child.Finish]. TERM asks to end, whatever the command makes of it. The
// others may be messages to a command that deals with them (HUP to read its settings again,
// INT to drop a query, QUIT for a dump), so of them it must have died, or have ended as a
// shell does whose command died of one.
func (c *Child) EndedBy() syscall.Signal {
	died := syscall.Signal(c.exit.Code() - 128)
	switch {
	case c.passed[syscall.SIGTERM]:
		return syscall.SIGTERM
	case c.passed[died]:
		return died
	}
	return c.key
}

// byKey is the signal that the command died of, if a key of the lent terminal sent it.
// Whoever sends the signal by kill decides who else gets it. Most send it to us; to send
// it to the command itself while it has the terminal looks like the key.
func (c *Child) byKey() syscall.Signal {
	sig := c.exit.Signal
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT || c.interrupted {
		return 0
	}
	return sig
}

// OnTerminal reports whether we are in the foreground of a terminal, and stdin, stdout
// or stderr is that terminal.
func OnTerminal() bool {
	t := openTerminal()
	if t == nil {
		return false
	}
	defer t.close()
	now, err := t.foreground()
	return err == nil && now == syscall.Getpgrp() && (isTerminal(os.Stdin) || isTerminal(os.Stdout) || isTerminal(os.Stderr))
}

// Interrupt ends this process by SIGINT. Where that is impossible, because the signal
// was ignored when we were started or we are a container's first process, it exits
// with 130.
func Interrupt() {
	if !signal.Ignored(syscall.SIGINT) && os.Getpid() != 1 {
		signal.Reset(syscall.SIGINT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(time.Second) // another thread may be the one that gets it
	}
	os.Exit(Exit{Signal: syscall.SIGINT}.Code())
}
