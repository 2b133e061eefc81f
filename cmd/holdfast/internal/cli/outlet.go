package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/async"
)

// outlet writes the labelled lines of all jobs to stdout or stderr. A write may block for ever, for example after
// Ctrl-S on a terminal. So a queue writes the lines on its own goroutine. It is safe for concurrent use.
//
// A limited number of lines wait in the outlet. If it is full, put waits while lines are written: a job is then as slow
// as the reader of its output, and no line is lost. If one write takes longer than a second, the outlet is stuck until
// that write ends. Then put drops the lines for which there is no room, and the job goes on. A line in the output says
// how many were dropped there.
type outlet struct {
	to    io.Writer
	lost  func() // called once, when the outlet drops its first line
	queue async.Queue

	mu      sync.Mutex
	lines   int // number and size of the lines that wait, with the line that is being written
	bytes   int
	dropped int           // number of lines dropped after those
	told    bool          // lost was called
	stuck   bool          // the present write takes too long
	written chan struct{} // closes when a line is written; nil: no put waits
}

const (
	// outletPatience is the time for one write, after which an outlet is stuck.
	outletPatience = time.Second

	// mostLines and mostBytes limit the lines that wait in an outlet. mostLines is less than [async.Room], so the queue
	// itself drops nothing.
	mostLines = async.Room / 2
	mostBytes = 256 << 10
)

// newOutlets returns the outlets for stdout and stderr. If both are the same file, the result is twice the same outlet.
// Otherwise two long lines could mix.
func newOutlets(t *talker) (stdout, stderr *outlet) {
	outlets := func(f *os.File, name string) *outlet {
		return &outlet{to: f, lost: func() {
			t.tell("cron: nobody reads %s, so lines of jobs are left out there; the jobs go on", name)
		}}
	}
	stdout, stderr = outlets(os.Stdout, "stdout"), outlets(os.Stderr, "stderr")
	a, err := os.Stdout.Stat()
	b, err2 := os.Stderr.Stat()
	if err == nil && err2 == nil && os.SameFile(a, b) {
		return stdout, stdout
	}
	return stdout, stderr
}

// put adds a line to the output, or drops it. It returns within outletPatience if no line is written. The outlet keeps
// the slice.
func (o *outlet) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.lines >= mostLines || o.bytes+len(line) > mostBytes {
		if o.stuck {
			o.dropped++
			if !o.told {
				o.told = true
				o.lost()
			}
			return
		}
		o.await()
	}
	o.gap()
	o.add(line)
}

// await waits until a line is written. If that takes longer than outletPatience, the outlet is stuck. The caller holds
// o.mu, which await unlocks during the wait.
func (o *outlet) await() {
	if o.written == nil {
		o.written = make(chan struct{})
	}
	written := o.written
	o.mu.Unlock()
	late := time.NewTimer(outletPatience)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	}
	o.mu.Lock()
	if o.written == written { // no line was written meanwhile
		o.stuck = true
	}
}

// add adds a line to the queue. The caller holds o.mu.
func (o *outlet) add(line []byte) {
	o.lines++
	o.bytes += len(line)
	o.queue.Do(func() {
		_, _ = o.to.Write(line) // an error means that nobody can read the line; the job goes on
		o.mu.Lock()
		defer o.mu.Unlock()
		o.stuck = false
		o.lines--
		o.bytes -= len(line)
		if o.written != nil {
			close(o.written)
			o.written = nil
		}
		if o.lines == 0 {
			o.gap()
		}
	})
}

// gap adds a line about the lines that were dropped, if there are any. The caller holds o.mu.
func (o *outlet) gap() {
	if n := o.dropped; n > 0 {
		o.dropped = 0
		o.add(fmt.Appendf(nil, "holdfast: %d lines of jobs left out here: nobody read them\n", n))
	}
}

// finish waits until all lines are written, but at most for outletPatience.
func (o *outlet) finish() { o.queue.Wait(outletPatience) }
