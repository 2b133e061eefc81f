package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// rereading reads the files of a running holdfast cron again after HUP. A file may not answer, for example one on a
// server that hangs. So a goroutine reads, and cron can run its jobs and end meanwhile. There is at most one such
// goroutine. Nothing can stop a read that hangs, so the goroutine may last until the process ends.
type rereading struct {
	cron  *crond
	file  string
	read  chan readAgain // receives the result of the goroutine; nil: no goroutine reads
	twice bool           // HUP came during the read, so the files may have changed after it
}

// readAgain is the result of one read.
type readAgain struct {
	nodes []string // messages about the file of nodes and the certificates
	jobs  []cronJob
	err   error
}

// begin starts to read. If a read is under way, the next one begins after it.
func (r *rereading) begin() {
	if r.read != nil {
		r.twice = true
		r.cron.say("cron: the read of %s after the last HUP still lasts; the jobs go on as before, and cron reads it again then", r.file)
		return
	}
	read := make(chan readAgain, 1) // so that the goroutine can end after cron has ended
	r.read = read
	go func() {
		result := readAgain{nodes: r.cron.settings.reread()}
		if result.err = regular(r.file); result.err == nil {
			result.jobs, result.err = readCrontab(r.file, allowed(r.cron.client))
		}
		read <- result
	}()
}

// end starts and stops jobs after a read.
func (r *rereading) end(read readAgain) {
	d := r.cron
	r.read = nil
	for _, line := range read.nodes {
		d.say("cron: %s", line)
	}
	n := d.count()
	why := read.err
	if why == nil && len(read.jobs) == 0 && n > 0 {
		why = errors.New("it has no job now")
	}
	d.end.noteReady(unread(r.file, why))
	switch {
	case read.err != nil:
		d.say("cron: %s is left as it was: %v", r.file, read.err)
	case len(read.jobs) == 0 && n > 0: // perhaps it was cut off while it was copied
		d.say("cron: %s has no job now: the jobs go on as before (%d); to end them, end cron", r.file, n)
	default:
		changed, left := d.replace(read.jobs)
		for _, e := range left {
			d.wait.Go(func() { d.retire(e.spec) })
		}
		d.note("cron: %s of %s, %d new or changed", printable.Count(len(read.jobs), "job"), r.file, changed)
	}
	if r.twice {
		r.twice = false
		r.begin()
	}
}

// unread returns why cron is not ready after a read, nil if it is.
func unread(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the last read of %s failed, and the jobs go on as before: %w", file, err)
}

// regular returns an error if a file is a pipe, a device or a folder. cron reads such a file only at the start: later
// it may have no more text, and a pipe without a writer does not answer at all.
func regular(name string) error {
	about, err := os.Stat(name)
	if err == nil && !about.Mode().IsRegular() {
		return errors.New("it is no regular file, so cron cannot read it again")
	}
	return err
}
