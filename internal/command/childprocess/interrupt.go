//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// If somebody presses Ctrl-C, a shell script ends under two conditions: its shell got INT, and the process that it
// waited for died of INT. This is known as wait and cooperative exit (https://www.cons.org/cracauer/sigint.html), and
// bash does it. So a script that calls holdfast needs both:
//
//   - INT for the shell's group, which is the group of this process. While the terminal is lent, the key reaches only
//     the command's group. [Child.Relay] sends it on.
//   - This process must die of INT too. An exit status of 130 means that somebody handled the key, as an editor does,
//     and the script goes on. [Interrupt] does this.

// Relay sends the process group of this process the INT or QUIT of which the command died. It does so only if nobody
// but the command's group can have got the signal: it came from the key while the terminal was lent. Relay ends the
// caller, so call it after all other work.
func (c *Child) Relay() {
	if c.key != 0 && !signal.Ignored(c.key) {
		_ = syscall.Kill(0, c.key)
	}
}

// EndedBy returns the signal by which somebody ended the command, or 0 if it ended by itself. Call it after
// [Child.Finish]. TERM always counts, because it asks the command to end. The others may be messages that a command
// handles: HUP to read its settings again, INT to drop a query, QUIT for a dump. So they count only if the command died
// of one, or ended with 128 + its number, as a shell does if its own command died of it.
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

// byKey returns the signal of which the command died if a key of the lent terminal sent it, else 0. Somebody who sends
// the signal with kill decides who else gets it, and most send it to this process. A signal that kill sends to the
// command itself, while it has the terminal, looks like the key.
func (c *Child) byKey() syscall.Signal {
	sig := c.exit.Signal
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT || c.interrupted {
		return 0
	}
	return sig
}

// OnTerminal reports whether this process is in the foreground of a terminal, and stdin, stdout or stderr is that
// terminal.
func OnTerminal() bool {
	t := openTerminal()
	if t == nil {
		return false
	}
	defer t.close()
	now, err := t.foreground()
	return err == nil && now == syscall.Getpgrp() && (isTerminal(os.Stdin) || isTerminal(os.Stdout) || isTerminal(os.Stderr))
}

// Interrupt ends this process by SIGINT. If that is impossible, it exits with 130. It is impossible if the signal was
// ignored when this process started, or if it is the first process of a container.
func Interrupt() {
	if !signal.Ignored(syscall.SIGINT) && os.Getpid() != 1 {
		signal.Reset(syscall.SIGINT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(time.Second) // another thread may get the signal
	}
	os.Exit(Exit{Signal: syscall.SIGINT}.Code())
}
