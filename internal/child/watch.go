//go:build unix

package child

import (
	"bufio"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/aside"
	"github.com/holdfast-go/holdfast/internal/clock"
)

// latest is how much longer than its deadline a lock's command lives, at most, before the
// watchdog concludes that the parent does not react.
const latest = 200 * time.Millisecond

// farewell is how long the watchdog stays for whoever reads its stderr.
const farewell = time.Second

// RunWatchdog is the watchdog's whole life; its arguments are the grace period, and for
// how long a deadline may be over. It returns the exit status.
func RunWatchdog(args []string, in io.Reader, stderr io.Writer) int {
	grace, late, err := durations(args)
	if err != nil {
		fmt.Fprintln(stderr, "holdfast: the watchdog is not for people; see: holdfast help run")
		return 64
	}
	// It ends when told so, and not because somebody ends everything called holdfast.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE)
	// Its stderr is the parent's, and may be why that stands still.
	var said aside.Queue
	w := &watch{grace: grace, late: late, now: clock.Host, report: func(format string, args ...any) {
		line := fmt.Sprintf("holdfast: watchdog: "+format+"\n", args...)
		said.Do(func() { _, _ = io.WriteString(stderr, line) })
	}}
	w.follow(lines(in))
	said.Wait(farewell)
	return 0
}

// arguments are RunWatchdog's, and durations takes them apart.
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

// lines turns in into a channel that is closed at its end.
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

// watch is what the watchdog knows.
type watch struct {
	grace    time.Duration
	late     time.Duration // for how long the deadline may be over
	now      clock.Clock   // the host's, which the parent reads, too
	report   func(format string, args ...any)
	group    group // 0: not yet, or not any more
	deadline clock.Instant
	armed    bool          // deadline is one
	ending   bool          // the parent is ending the group …
	since    clock.Instant // … since then
}

func (w *watch) follow(lines <-chan string) {
	for {
		// A look each second, because timers stand still while the host is suspended.
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

// left is for how long the parent may leave the group alone: until the lock's deadline
// or, once it is ending the group, until its KILL. A deadline that comes or passes then
// changes nothing: the group has had its TERM, and is to have all of its grace.
func (w *watch) left() (left time.Duration, ok bool) {
	switch {
	case w.group <= 1:
		return 0, false
	case w.ending:
		return w.grace - w.now().Sub(w.since), true
	}
	return w.deadline.Sub(w.now()), w.armed
}

// standIn does what a parent should have done that stands still.
func (w *watch) standIn() {
	switch {
	case !w.group.alive(): // its parent has not said so yet
	case w.ending:
		w.group.kill(w.grace, w.report)
	default:
		w.report("the lock is over and its holder stands still: ending process group %d", w.group)
		w.group.end(w.grace, w.report)
	}
	w.group = 0 // the kernel may give the number to anybody
}

// orphaned ends the group of a dead parent. While its lock is still valid, the command
// gets no more grace than that: then nobody else can have begun when it ends. And no
// more than is left of what the parent has begun.
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
