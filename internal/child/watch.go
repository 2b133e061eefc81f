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

	"github.com/holdfast-go/holdfast/internal/clock"
)

// late is how much longer than its deadline a lock's command lives before the watchdog
// concludes that the parent does not react. The nodes keep the name for longer.
const late = 200 * time.Millisecond

// RunWatchdog is the watchdog's whole life; grace is its argument. It returns the exit
// status.
func RunWatchdog(grace string, in io.Reader, stderr io.Writer) int {
	d, err := time.ParseDuration(grace)
	if err != nil {
		fmt.Fprintln(stderr, "holdfast: the watchdog is not for people; see: holdfast help run")
		return 64
	}
	// It ends when told so, and not because somebody ends everything called holdfast.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE)
	w := &watch{grace: d, now: clock.Steady(), report: func(format string, args ...any) {
		fmt.Fprintf(stderr, "holdfast: watchdog: "+format+"\n", args...)
	}}
	w.follow(lines(in))
	return 0
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
	now      clock.Clock // goes on while the host is suspended
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
			pause = max(min(left, pause-late)+late, 0)
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
			if left, ok := w.left(); ok && left <= -late {
				w.standIn()
			}
		}
	}
}

func (w *watch) hear(line string) {
	word, number, _ := strings.Cut(line, " ")
	n, _ := strconv.Atoi(number)
	switch word {
	case "group":
		w.group = group(n)
	case "until":
		w.deadline, w.armed = w.now().Add(time.Duration(n)*time.Millisecond), true
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
