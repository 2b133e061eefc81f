package cli

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/async"
)

// This file has the two pipes between hold and the program that it holds a lock for.

// partner is the program that writes to the standard input of hold.
type partner struct {
	ended    chan struct{} // closes when it has released the lock, or closed its end of the pipe
	terminal bool          // a person types there, and reads the lines
	parent   int           // the process id of the program, unless another process started hold for it
}

func partnerOf(in io.Reader, out io.Writer) *partner {
	p := &partner{ended: make(chan struct{}), parent: os.Getppid()}
	from, isFile := in.(*os.File)
	to, isFileToo := out.(*os.File)
	p.terminal = isFile && isFileToo && term.IsTerminal(from.Fd()) && term.IsTerminal(to.Fd())
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(in)
		for rest := false; ; { // rest: the next piece belongs to a long line
			line, more, err := lines.ReadLine()
			if err != nil || !rest && !more && string(line) == "release" { // an error is an end, too
				return
			}
			rest = more
		}
	}()
	return p
}

// orphaned reports whether the parent process has ended. Its end of the pipe may be open all the same: a process that
// it forked has it, too.
func (p *partner) orphaned() bool { return os.Getppid() != p.parent }

// trust is the time until which the program may rely on a lease. A line may be written later, so it is an instant by
// each clock.
type trust struct {
	deadline time.Time     // by the monotonic clock of Go, which stops while the machine is suspended
	uptime   time.Duration // by /proc/uptime, which goes on; 0 if there is none
}

// reliesOn returns the present deadline of a lease.
func reliesOn(lease *holdfast.Lease) trust {
	up, known := uptime() // before the other clocks, so that the result is not too late
	t := trust{deadline: lease.Deadline()}
	if known {
		t.uptime = up + time.Until(t.deadline)
	}
	return t
}

// uptime returns the first number of /proc/uptime. In a container it may be the age of the container. It is up to 10 ms
// late.
func uptime() (since time.Duration, known bool) {
	text, err := os.ReadFile("/proc/uptime")
	first, _, _ := strings.Cut(string(text), " ")
	seconds, bad := strconv.ParseFloat(first, 64)
	return time.Duration(seconds * float64(time.Second)), err == nil && bad == nil
}

// heldEvent is a line of hold.
type heldEvent struct {
	Event         string `json:"event"`
	Name          string `json:"name,omitempty"`
	Fence         int64  `json:"fence,omitempty"`
	Slot          *int   `json:"slot,omitempty"`
	ValidMS       *int64 `json:"valid_ms,omitempty"`
	UntilMS       *int64 `json:"until_ms,omitempty"`
	UntilUptimeMS *int64 `json:"until_uptime_ms,omitempty"`
	Error         string `json:"error,omitempty"`
}

// validUntil sets the time for which a lease counts. It may be over, if nobody read the lines before.
func (e *heldEvent) validUntil(t trust) {
	left := time.Until(t.deadline)
	if up, known := uptime(); known && t.uptime > 0 {
		left = min(left, t.uptime-up)
		until := t.uptime.Milliseconds()
		e.UntilUptimeMS = &until
	}
	ms := left.Milliseconds()
	at := time.Now().UnixMilli() + ms
	e.ValidMS, e.UntilMS = &ms, &at
}

// holdLines writes the lines of hold. A program that does not read them stops no call. Of several renewals that wait
// for the reader, only the last one is written.
type holdLines struct {
	failed chan struct{} // closes when a line could not be written: nobody reads any more

	out     io.Writer
	queue   async.Queue
	waiting atomic.Pointer[trust] // of the renewal that waits; nil: none
	broken  bool                  // only the queue uses it
}

func newHoldLines(out io.Writer) *holdLines { return &holdLines{out: out, failed: make(chan struct{})} }

// put writes a line some time later. The zero trust is for a line without it.
func (l *holdLines) put(e heldEvent, until trust) {
	if e.Event == "renewed" && l.waiting.Swap(&until) != nil {
		return
	}
	l.queue.Do(func() {
		if e.Event == "renewed" {
			until = *l.waiting.Swap(nil)
		}
		if l.broken {
			return
		}
		if until != (trust{}) {
			e.validUntil(until)
		}
		if err := printJSONLine(l.out, e); err != nil {
			l.broken = true
			close(l.failed)
		}
	})
}

// flush waits until the lines are written, but not long.
func (l *holdLines) flush() { l.queue.Wait(time.Second) }
