//go:build unix

package childprocess

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// When a user presses Ctrl-C, a shell script ends under two conditions: its shell got INT, and the process that the
// shell waited for died of INT. This is known as wait and cooperative exit
// (https://www.cons.org/cracauer/sigint.html), and bash does it. So holdfast must do two things for a script that
// calls it:
//
//   - The group of the shell, which is also the group of this process, must get INT. While the terminal is lent, the key
//     sends INT only to the command's group. So [Child.Relay] sends it to the other group.
//   - This process must die of INT, too. The exit status 130 would mean that the process handled the key, as an editor
//     does, and the script would continue. So [Interrupt] kills this process with INT.

// Relay sends the INT or QUIT of which the command died to the process group of this process. It does so only if a key
// sent the signal while the terminal was lent, because then only the command's group has got it. The signal may end
// this process, so call Relay after all other work.
func (c *Child) Relay() {
	if c.key != 0 && !signal.Ignored(c.key) {
		_ = syscall.Kill(0, c.key)
	}
}

// EndedBy returns the signal that ended the command, or 0 if the command ended by itself. Call it after
// [Child.Finish]. A TERM that was forwarded always counts, because TERM asks a command to end. Commands may use other
// signals as messages: HUP to read settings again, INT to cancel a query, QUIT for a dump. So another signal counts
// only in two cases: the command died of the signal, or it exited with 128 + the number of the signal. A shell exits
// so if its own command died of it.
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

// byKey returns the signal of which the command died if a key of the lent terminal sent it, otherwise 0. A user who
// sends the signal with kill chooses the processes that get it, and usually chooses this process. If the user sends it
// to the command itself while the command has the terminal, byKey cannot distinguish it from a key.
func (c *Child) byKey() syscall.Signal {
	sig := c.exit.Signal
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT || c.interrupted {
		return 0
	}
	return sig
}

// OnTerminal reports whether this process is in the foreground of a terminal, and at least one of stdin, stdout and
// stderr is that terminal.
func OnTerminal() bool {
	t := openTerminal()
	if t == nil {
		return false
	}
	defer t.close()
	now, err := t.foreground()
	return err == nil && now == syscall.Getpgrp() && (isTerminal(os.Stdin) || isTerminal(os.Stdout) || isTerminal(os.Stderr))
}

// Interrupt ends this process with SIGINT, or with exit status 130 if SIGINT cannot end it. SIGINT cannot end it if
// the signal was ignored when it started, or if it is the first process of a container.
func Interrupt() {
	if !signal.Ignored(syscall.SIGINT) && os.Getpid() != 1 {
		signal.Reset(syscall.SIGINT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(time.Second) // another thread may handle the signal, so give it time
	}
	os.Exit(Exit{Signal: syscall.SIGINT}.Code())
}
