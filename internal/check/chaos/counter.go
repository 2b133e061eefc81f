//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// counterFile contains a number, the highest token ever shown, and the element of the write that made the number. As
// with the registers, each write notes the element that its writer had read. So the judge knows for each update whether
// it was lost. A number alone cannot show this, because a writer that was killed before its report also raises the
// number.
type counterFile struct{ path string }

// count is the content of a counter file.
type count struct {
	n     int64
	last  string // the element of the write that made the count n; "" if none
	token int64
}

func newCounterFile(dir, name string) counterFile {
	return counterFile{filepath.Join(dir, "counter-"+name)}
}

func (c counterFile) read(token int64) (now count, err error) {
	err = c.access(token, func(found count) (count, error) { now = found; return found, nil })
	return now, err
}

// write writes the number that follows the read number, even if other writes came since.
func (c counterFile) write(token int64, element string, read count) error {
	return c.access(token, func(count) (count, error) {
		return count{n: read.n + 1, last: element}, c.note(element, read.last)
	})
}

// access is atomic, because the resource itself must be correct. Only the lock protects the time between a read and a
// write.
func (c counterFile) access(token int64, change func(count) (count, error)) error {
	guard, err := os.OpenFile(c.path+".guard", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer guard.Close()
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(guard.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return err
	}
	now, err := c.load()
	if err == nil && token < now.token {
		err = errOldToken
	}
	if err == nil {
		now, err = change(now)
	}
	if err != nil {
		return err
	}
	// The rename is atomic: if this process is killed here, the old file or the new file is left.
	if err := os.WriteFile(c.path+".next", fmt.Appendf(nil, "%d %d %q\n", now.n, token, now.last), 0o600); err != nil {
		return err
	}
	return os.Rename(c.path+".next", c.path)
}

// note stores the element that precedes an element. The note comes before the write. If the writer is killed in
// between, an unused note remains.
func (c counterFile) note(element, before string) error {
	f, err := os.OpenFile(c.path+".before", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", element, before) // one write call, so that all of the line arrives or nothing
	return errors.Join(err, f.Close())
}

func (c counterFile) load() (now count, err error) {
	b, err := os.ReadFile(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return count{}, nil
	}
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %d %q", &now.n, &now.token, &now.last)
	}
	return now, err
}

// list returns the elements of the writes that the final number contains.
func (c counterFile) list() (map[string]bool, error) {
	now, err := c.load()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(c.path + ".before")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	before := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		element, was, _ := strings.Cut(lines.Text(), " ")
		before[element] = was
	}
	in, err := chain(now.last, before)
	if err == nil && int64(len(in)) != now.n {
		err = fmt.Errorf("it says %d, and %d writes led to that", now.n, len(in))
	}
	if err != nil {
		return nil, fmt.Errorf("resource: %s: %w", filepath.Base(c.path), err)
	}
	return in, nil
}

// chain follows the elements from the last to the first.
func chain(last string, before map[string]string) (map[string]bool, error) {
	in := map[string]bool{}
	for ; last != ""; last = before[last] {
		if in[last] {
			return nil, fmt.Errorf("its elements are a ring at %s", last)
		}
		in[last] = true
	}
	return in, nil
}
