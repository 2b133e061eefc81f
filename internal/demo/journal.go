package demo

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// journal is an append-only file into which every worker writes when it enters and
// leaves the critical section, by a clock that all processes share. It is written
// beside the lock, not through it, and is what the verdict is made of.
type journal struct{ file *os.File }

// What a record says.
const (
	entered  = "entered"  // inside from now on
	wrote    = "wrote"    // left, with the increment in the file
	noticed  = "noticed"  // left without writing: the lease said that it is over
	refused  = "refused"  // left, and the file refused the write
	failed   = "failed"   // left without writing for another reason
	killed   = "killed"   // the demo killed it inside
	froze    = "froze"    // the demo froze it inside
	rejected = "rejected" // a write with an old token, sent on purpose, was refused
	accepted = "accepted" // … was accepted: a promise is broken
)

// record is one line: at, in ns; who; with which token; and how long it had waited.
type record struct {
	what   string
	at     int64
	worker int
	token  int64
	waited int64
}

func openJournal(dir string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{f}, nil
}

// note writes one record. One write of a short line to a file opened for appending is
// atomic.
func (j *journal) note(r record) error {
	_, err := fmt.Fprintln(j.file, r.what, r.at, r.worker, r.token, r.waited)
	return err
}

func (j *journal) close() error { return j.file.Close() }

func readJournal(dir string) ([]record, error) {
	f, err := os.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []record
	for s := bufio.NewScanner(f); s.Scan(); {
		var r record
		if _, err := fmt.Sscan(s.Text(), &r.what, &r.at, &r.worker, &r.token, &r.waited); err != nil {
			return nil, fmt.Errorf("journal line %q: %w", s.Text(), err)
		}
		list = append(list, r)
	}
	return list, nil
}
