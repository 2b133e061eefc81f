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

// latest is the longest time after its lock's deadline until the watchdog concludes that the parent is frozen. The
// watchdog then begins to end the command: it sends TERM, and KILL after the grace period.
const latest = 200 * time.Millisecond

// farewell is the longest time for which a watchdog that ends waits until its messages are written to stderr.
const farewell = time.Second

// RunWatchdog is the main function of a watchdog. args contains the grace period, and the time from the lock's deadline
// until the watchdog sends TERM for a frozen parent. RunWatchdog returns the exit status.
func RunWatchdog(args []string, in io.Reader, stderr io.Writer) int {
	grace, late, err := durations(args)
	if err != nil {
		fmt.Fprintln(stderr, "holdfast: the watchdog is not for people; see: holdfast help run")
		return 64
	}
	_ = syscall.Chdir("/") // in another folder, the watchdog would keep a file system in use
	// The watchdog ignores signals, and ends only when its parent tells it to. A user may send a signal to all
	// processes that are called holdfast, and the watchdog must not end before the command.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE)
	// The watchdog writes in the background, because it has the same stderr as the parent. The parent may be frozen
	// because a write to stderr blocks.
	var said async.Queue
	w := &watch{grace: grace, late: late, now: clock.Host, report: func(format string, args ...any) {
		line := fmt.Sprintf("holdfast: watchdog: "+format+"\n", args...)
		said.Do(func() { _, _ = io.WriteString(stderr, line) })
	}}
	w.follow(lines(in))
	said.Wait(farewell)
	return 0
}

// arguments returns the arguments for RunWatchdog, which the function durations parses.
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
	late     time.Duration // the time from the deadline until TERM, if the parent is frozen
	now      clock.Clock   // the host's clock, which the parent reads, too
	report   func(format string, args ...any)
	group    group // 0: there is no group yet, or the group has ended
	deadline clock.Instant
	armed    bool          // the parent has sent a deadline
	ending   bool          // the parent is ending the group
	since    clock.Instant // when the parent began to end the group
}

func (w *watch) follow(lines <-chan string) {
	for {
		// Wake at least once a second, because timers do not run while the host is suspended.
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
			w.handleLine(line)
		case <-time.After(pause):
			if left, ok := w.left(); ok && left <= -w.late {
				w.actForParent()
			}
		}
	}
}

func (w *watch) handleLine(line string) {
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

// left returns the time for which the watchdog must leave the group alone. It ends at the lock's deadline. If the
// parent is ending the group, it ends when KILL is due. A lock's deadline does not matter after TERM, because the
// group must have its whole grace period.
func (w *watch) left() (left time.Duration, ok bool) {
	switch {
	case w.group <= 1:
		return 0, false
	case w.ending:
		return w.grace - w.now().Sub(w.since), true
	}
	return w.deadline.Sub(w.now()), w.armed
}

// actForParent does the work of the parent, which is frozen.
func (w *watch) actForParent() {
	switch {
	case !w.group.alive(): // the group has ended, and the parent has not reported it yet
	case w.ending:
		w.group.kill(w.grace, w.report)
	default:
		w.report("the lock has ended and its holder is frozen: ending process group %d", w.group)
		w.group.end(w.grace, w.report)
	}
	w.group = 0 // the kernel may give the number to another group
}

// orphaned ends the group of a dead parent. While the lock is valid, it shortens the grace period so that the group
// ends before the lock does, and before another client can get the lock. If the parent had already begun to end the
// group, the group gets only the rest of its grace period.
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
