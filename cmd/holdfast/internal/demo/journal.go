package demo

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// journal is a file to which lines are only appended. Each worker records there when it enters and leaves the critical
// section, by a clock that all processes share. Workers write to the journal without the lock. The verdict is based on
// it.
type journal struct{ file *os.File }

// These are the kinds of records.
const (
	entered  = "entered"  // the worker is inside from this instant
	wrote    = "wrote"    // the worker left, and the increment is in the file
	noticed  = "noticed"  // the worker left without a write, because it noticed that its lease had ended
	refused  = "refused"  // the worker left, and the file refused the write
	failed   = "failed"   // the worker left without a write for another reason
	killed   = "killed"   // the demo killed the worker inside
	froze    = "froze"    // the demo froze the worker inside
	rejected = "rejected" // the file refused a write with an old token, which the worker sent as a test
	accepted = "accepted" // the file accepted such a write, and so broke a promise
)

// record is one line: the event, its instant in ns, the worker, its token, and the time for which it waited before.
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

// note writes one record. The file is in append mode and the line is short, so other records cannot get into the line.
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
