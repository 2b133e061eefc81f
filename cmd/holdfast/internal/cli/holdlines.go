package cli

import (
	"bufio"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/holdfast-go/holdfast/internal/core/async"
	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// This file has the two pipes between hold and the program that it holds a lock for.

// partner is the program that writes to the standard input of hold.
type partner struct {
	ended    chan struct{} // closes when it has released the lock, or closed its end of the pipe
	terminal bool          // a person types there
	parent   int           // the process id of the program, unless another process started hold for it
}

func partnerOf(in io.Reader) *partner {
	p := &partner{ended: make(chan struct{}), parent: os.Getppid()}
	if file, is := in.(*os.File); is {
		p.terminal = term.IsTerminal(file.Fd())
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewReader(in)
		for {
			line, long, err := lines.ReadLine()
			if err != nil || !long && string(line) == "release" { // an error is an end, too
				return
			}
		}
	}()
	return p
}

// orphaned reports whether the parent process has ended. Its end of the pipe may be open all the same: a process that
// it forked has it, too.
func (p *partner) orphaned() bool { return os.Getppid() != p.parent }

// heldEvent is a line of hold.
type heldEvent struct {
	Event       string `json:"event"`
	Name        string `json:"name,omitempty"`
	Fence       int64  `json:"fence,omitempty"`
	Slot        *int   `json:"slot,omitempty"`
	ValidMS     *int64 `json:"valid_ms,omitempty"`
	UntilMS     *int64 `json:"until_ms,omitempty"`
	UntilBootMS *int64 `json:"until_boot_ms,omitempty"`
	Error       string `json:"error,omitempty"`
}

// validUntil sets the time for which a lease counts. It may be over, if nobody read the lines before.
func (e *heldEvent) validUntil(deadline time.Time) {
	boot, known := clock.Boot() // before the others, so that it is not too late
	left := time.Until(deadline).Milliseconds()
	at := time.Now().UnixMilli() + left
	e.ValidMS, e.UntilMS = &left, &at
	if until := time.Duration(boot).Milliseconds() + left; known {
		e.UntilBootMS = &until
	}
}

// holdLines writes the lines of hold. A program that does not read them stops no call. Of several renewals that wait
// for the reader, only the last one is written.
type holdLines struct {
	failed chan struct{} // closes when a line could not be written: nobody reads any more

	out     io.Writer
	queue   async.Queue
	waiting atomic.Pointer[time.Time] // the deadline of the renewal that waits; nil: none
	broken  bool                      // only the queue uses it
}

func newHoldLines(out io.Writer) *holdLines { return &holdLines{out: out, failed: make(chan struct{})} }

// put writes a line some time later. The lease counts until deadline; a zero deadline is for a line without it.
func (l *holdLines) put(e heldEvent, deadline time.Time) {
	if e.Event == "renewed" && l.waiting.Swap(&deadline) != nil {
		return
	}
	l.queue.Do(func() {
		if e.Event == "renewed" {
			deadline = *l.waiting.Swap(nil)
		}
		if l.broken {
			return
		}
		if !deadline.IsZero() {
			e.validUntil(deadline)
		}
		if err := printJSONLine(l.out, e); err != nil {
			l.broken = true
			close(l.failed)
		}
	})
}

// flush waits until the lines are written, but not long.
func (l *holdLines) flush() { l.queue.Wait(time.Second) }
