//go:build linux

package fleet

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bookRun is a run in the test's own book.
type bookRun struct {
	job, machine string // machine is the name of an incarnation
	tick         int64  // in s
	pid          string
	exit         *int // nil: the command was killed
	begin, end   int  // the numbers of its lines; end is 0 if there is none
	found        bool // the history has it
}

func (r *bookRun) String() string {
	if r.exit == nil {
		return fmt.Sprintf("pid %s on %s without an end", r.pid, r.machine)
	}
	return fmt.Sprintf("pid %s on %s with exit code %d", r.pid, r.machine, *r.exit)
}

// ownBook is what the test has read of its own book. The order of its lines is that in which they were written.
type ownBook struct {
	read  int64 // bytes
	lines int
	runs  []*bookRun
	open  map[string]*bookRun // by the words that the lines of a run have in common
}

// book reads what is new in the test's own book, and returns all runs.
func (f *hourFleet) book() []*bookRun {
	f.t.Helper()
	file, err := os.Open(filepath.Join(f.dir, "book"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	b := &f.own
	text, err := io.ReadAll(io.NewSectionReader(file, b.read, 1<<30))
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") { // it is being written
			break
		}
		b.read += int64(len(line))
		b.lines++
		if !b.add(strings.Fields(line)) {
			f.t.Fatalf("the book has the line %q, which does not fit to those before it", line)
		}
	}
	return b.runs
}

// add adds the words of a line. It reports whether the line fits to those before it.
func (b *ownBook) add(w []string) bool {
	if len(w) != 7 {
		return false
	}
	id := strings.Join(w[1:6], " ")
	tick, err := time.Parse(time.RFC3339, w[2])
	switch r := b.open[id]; {
	case err != nil:
		return false
	case w[0] == "begin" && r == nil:
		r = &bookRun{job: w[1], machine: w[4], tick: tick.Unix(), pid: w[5], begin: b.lines}
		b.open[id], b.runs = r, append(b.runs, r)
	case w[0] == "end" && r != nil && r.exit == nil:
		code, err := strconv.Atoi(w[6])
		r.exit, r.end = &code, b.lines
		return err == nil
	default:
		return false
	}
	return true
}

func (f *hourFleet) runsOf(name string) []*bookRun {
	return slices.DeleteFunc(slices.Clone(f.book()), func(r *bookRun) bool { return r.job != name })
}
