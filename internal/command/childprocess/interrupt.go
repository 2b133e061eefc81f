//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// When a user presses Ctrl-C, a shell script ends under two conditions: its shell got INT, and the process for which it
// waited died of INT. This is known as wait and cooperative exit (https://www.cons.org/cracauer/sigint.html), and bash
// does it. So a script that calls holdfast needs two things:
//
//   - The shell's group, which is the group of this process, must get INT. While the terminal is lent, the key reaches
//     only the command's group. So [Child.Relay] sends INT on.
//   - This process must die of INT too. An exit status of 130 would mean that a process handled the key, as an editor
//     does, and the script would continue. So [Interrupt] kills this process with INT.

// Relay sends the INT or QUIT of which the command died to the process group of this process. It does so only if the
// signal came from the key while the terminal was lent. In that case only the command's group can have got the signal.
// Relay ends the caller, so call it after all other work.
func (c *Child) Relay() {
	if c.key != 0 && !signal.Ignored(c.key) {
		_ = syscall.Kill(0, c.key)
	}
}

// EndedBy returns the signal that ended the command, or 0 if the command ended by itself. Call it after [Child.Finish].
// TERM always counts, because it asks the command to end. The other signals may be messages that a command handles: HUP
// to read its settings again, INT to drop a query, QUIT for a dump. So such a signal counts only in two cases: the
// command died of the signal, or it ended with 128 + the signal's number. A shell ends in this way if its own command
// died of the signal.
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

// byKey returns the signal of which the command died if a key of the lent terminal sent the signal, else 0. A user who
// sends the signal with kill decides which other processes get it, and most users send it to this process. A signal
// that kill sends to the command itself, while the command has the terminal, looks like the key.
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

// Interrupt ends this process by SIGINT. If that is impossible, it exits with 130. SIGINT cannot end this process if
// the signal was ignored at its start, or if it is the first process of a container.
func Interrupt() {
	if !signal.Ignored(syscall.SIGINT) && os.Getpid() != 1 {
		signal.Reset(syscall.SIGINT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(time.Second) // another thread may get the signal, so wait for it
	}
	os.Exit(Exit{Signal: syscall.SIGINT}.Code())
}
