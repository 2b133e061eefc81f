// Package childprocess runs a command that must not outlive a lock.
//
// The command and its descendants form their own process group, so that one signal reaches all of them. The group ends
// with the lock:
//
//   - The caller ends it ([Child.End]): TERM, a grace period, KILL. The caller also does so if the command itself has
//     exited and left other processes, which would continue without the lock.
//   - This process gets SIGKILL. Then it cannot end the group. On Linux the command gets TERM as its parent-death
//     signal. On every Unix a [Watchdog] ends the whole group.
//   - This process is frozen past the lock's deadline (SIGSTOP, a stalled machine). The watchdog knows the deadline and
//     ends the group. If this process freezes while it ends the group itself, the watchdog sends KILL after the grace
//     period.
//
// The package does not cover these cases:
//
//   - A process leaves the group. Examples are setsid, daemons, a container that a server starts on request, and shells
//     with job control (set -m, bash -i). timeout(1) without --foreground also leaves the group, unless it is COMMAND
//     itself and so leads the group already. A holdfast that runs in the group has its command in another group, and
//     passes TERM on to that command. If that holdfast gets KILL, its own watchdog ends the command.
//   - A process runs as another user (sudo, set-uid programs). A signal to it fails with EPERM, and the kernel drops
//     the death signal when the process starts.
//   - This process gets SIGKILL while it has no watchdog: both are killed together, or this process is killed in the
//     second before a dead watchdog is replaced. Then only Linux's death signal remains. It is TERM, which the command
//     may ignore, and it does not reach the command's descendants.
//
// A command also does not begin without the lock, even if its parent or its own process freezes before that: see
// starter.go. The watchdog knows the group before the command can do anything.
//
// On a terminal the group becomes the terminal's foreground group, so that editors, pagers, password prompts and Ctrl-Z
// work: see terminal.go and suspend.go. Ctrl-C and Ctrl-\ then reach only the command. If the command dies of such a
// signal, [Child.Relay] sends the signal to this process's own group, which contains a calling shell script.
// [Interrupt] then ends this process as the script expects: see interrupt.go. If the command handles a key, this
// process's group does not get the signal of the key.
package childprocess
