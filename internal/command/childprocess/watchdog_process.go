//go:build unix

package childprocess

import (
	"bufio"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// latest is the longest time for which a command may live after its lock's deadline. After that the watchdog assumes
// that the parent does not react.
const latest = 200 * time.Millisecond

// farewell is the time for which the watchdog waits at its end for the reader of its stderr.
const farewell = time.Second

// RunWatchdog does the whole work of a watchdog. args contains the grace period and the longest time after a deadline
// for which the command may live. RunWatchdog returns the exit status.
func RunWatchdog(args []string, in io.Reader, stderr io.Writer) int {
	grace, late, err := durations(args)
	if err != nil {
		fmt.Fprintln(stderr, "holdfast: the watchdog is not for people; see: holdfast help run")
		return 64
	}
	// The watchdog ignores signals, and ends only when its parent tells it to. A user may send a signal to all
	// processes that are called holdfast.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE)
	// The watchdog shares its stderr with the parent, and that file may be the reason why the parent freezes.
	var said async.Queue
	w := &watch{grace: grace, late: late, now: clock.Host, report: func(format string, args ...any) {
		line := fmt.Sprintf("holdfast: watchdog: "+format+"\n", args...)
		said.Do(func() { _, _ = io.WriteString(stderr, line) })
	}}
	w.follow(lines(in))
	said.Wait(farewell)
	return 0
}

// arguments returns the arguments of RunWatchdog. durations parses them.
func arguments(grace, window time.Duration) []string {
	return []string{grace.String(), min(3*window, latest).String()}
}

func durations(args []string) (grace, late time.Duration, err error) {
	if len(args) != 2 {
		return 0, 0, fmt.Errorf("%d arguments", len(args))
	}
	grace, err = time.ParseDuration(args[0])
	if err == nil {
		late, err = time.ParseDuration(args[1])
	}
	return grace, late, err
}

// lines returns a channel with the lines of in. The channel is closed at the end of in.
func lines(in io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		for s := bufio.NewScanner(in); s.Scan(); {
			out <- s.Text()
		}
	}()
	return out
}

// watch is the state of a watchdog.
type watch struct {
	grace    time.Duration
	late     time.Duration // the longest time after the deadline for which the command may live
	now      clock.Clock   // the host's clock, which the parent also reads
	report   func(format string, args ...any)
	group    group // 0: there is no group yet, or it has ended
	deadline clock.Instant
	armed    bool          // the watchdog has a deadline
	ending   bool          // the parent is ending the group
	since    clock.Instant // when the parent began to end the group
}

func (w *watch) follow(lines <-chan string) {
	for {
		// The loop wakes once a second, because timers do not run while the host is suspended.
		pause := time.Second
		if left, ok := w.left(); ok {
			pause = max(min(left, pause-w.late)+w.late, 0)
		}
		select {
		case line, ok := <-lines:
			if !ok {
				w.orphaned()
				return
			}
			if line == "bye" {
				return
			}
			w.hear(line)
		case <-time.After(pause):
			if left, ok := w.left(); ok && left <= -w.late {
				w.standIn()
			}
		}
	}
}

func (w *watch) hear(line string) {
	word, number, _ := strings.Cut(line, " ")
	n, _ := strconv.ParseInt(number, 10, 64)
	switch word {
	case "group":
		w.group, w.armed, w.ending = group(n), false, false
	case "until":
		w.deadline, w.armed = clock.Instant(n), true
	case "ending":
		w.ending, w.since = true, w.now()
	}
}

// left returns the time for which the parent may leave the group alone. This time ends at the lock's deadline, or at
// KILL if the parent is ending the group. A deadline that comes or passes after TERM changes nothing, because the group
// must have its whole grace period.
func (w *watch) left() (left time.Duration, ok bool) {
	switch {
	case w.group <= 1:
		return 0, false
	case w.ending:
		return w.grace - w.now().Sub(w.since), true
	}
	return w.deadline.Sub(w.now()), w.armed
}

// standIn does the work of a parent that is frozen.
func (w *watch) standIn() {
	switch {
	case !w.group.alive(): // the group has ended, but the parent has not said so yet
	case w.ending:
		w.group.kill(w.grace, w.report)
	default:
		w.report("the lock is over and its holder stands still: ending process group %d", w.group)
		w.group.end(w.grace, w.report)
	}
	w.group = 0 // the kernel may reuse the number
}

// orphaned ends the group of a dead parent. While the lock is valid, the grace period ends with the lock at the latest.
// So no other holder can begin before the command ends. If the parent has begun to end the group, only the rest of that
// grace period remains.
func (w *watch) orphaned() {
	if w.group <= 1 || !w.group.alive() {
		return
	}
	grace := w.grace
	valid := max(w.deadline.Sub(w.now()), 0)
	if w.ending {
		grace = max(grace-w.now().Sub(w.since), 0)
	}
	if w.armed && (valid > 0 || !w.ending) {
		grace = min(grace, valid)
	}
	w.report("holdfast was killed: ending process group %d", w.group)
	w.group.end(grace, w.report)
}
