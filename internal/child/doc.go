// Package child runs a command that must not outlive a lock.
//
// The command and what it starts form a process group of their own, so that all of
// it can be signalled at once. The group ends with the lock:
//
//   - The caller ends it ([Child.End]): TERM, a grace period, KILL. Also when the
//     command itself has exited and left others behind, who would go on unlocked.
//   - The own process is killed with SIGKILL: nothing runs any more that could end
//     the group. On Linux the command gets TERM as its parent-death signal. A
//     [Watchdog] ends the whole group, on every Unix.
//   - The own process is frozen (SIGSTOP, a stalled machine) past the lock's
//     deadline: the watchdog knows the deadline and ends the group. Or past the grace
//     period, while it was ending the group itself: the watchdog sends KILL.
//
// Not covered: a process that leaves the group. That is done by setsid, daemons, a
// container that a server starts on request; by timeout(1) without --foreground, unless it
// leads the group already, as where it is COMMAND itself; and by shells with job control
// (set -m, bash -i). A holdfast run in the group has its command in another one, and passes
// TERM on to it; if it gets KILL, its own watchdog ends the command. Nor covered is what
// runs as another user (sudo, set-uid programs): a signal to it is refused (EPERM), and the
// kernel forgets the death signal when it starts. Nor a SIGKILL of the own process while it has no watchdog: together
// with it, or in the second after it died, in which another one takes its place. There only Linux's death signal
// remains. It is TERM, which the command may ignore, and it does not reach what the command started.
//
// A command does not begin without the lock either, wherever its parent or its own process stands still before:
// starter.go. The watchdog knows the group before the command can do anything.
//
// On a terminal the group becomes the terminal's foreground group, so that editors,
// pagers, password prompts and Ctrl-Z work; see terminal.go and suspend.go. Its Ctrl-C and Ctrl-\ then
// reach the command alone. If it dies of them, [Child.Relay] tells our own group, in which
// a calling shell script is, and [Interrupt] ends us as that expects; see interrupt.go.
// Of a key that the command deals with, our group does not hear.
package child
