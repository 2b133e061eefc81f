//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast-go/holdfast/fence"
)

// counterFile contains a number, and the element of the write that made the number. It refuses old tokens. As with the
// registers, each write notes the element that its writer had read. So the judge knows for each update whether it was
// lost. A number alone cannot show this, because a writer that was killed before its report also raises the number.
//
// A single access is atomic, because the resource itself must be correct. Only the lock protects the time between a
// read and a write.
type counterFile struct{ fence.File }

// count is the content of a counter file.
type count struct {
	n    int64
	last string // the element of the write that made the count n; "" if none
}

// newCounterFile needs no fsync: a process may be killed, and the machine goes on.
func newCounterFile(dir, name string) counterFile {
	return counterFile{fence.File{Path: filepath.Join(dir, "counter-"+name), NoSync: true}}
}

// tokenOf returns a token for the file. A lock without tokens has the token 0 everywhere, and the file refuses nobody.
func tokenOf(token int64) fence.Token { return fence.Token{Fence: max(token, 1)} }

func (c counterFile) read(token int64) (count, error) {
	text, err := c.Read(context.Background(), tokenOf(token))
	if err != nil {
		return count{}, err
	}
	return parse(text)
}

// write writes the number that follows the read number, even if other writes came since.
func (c counterFile) write(token int64, element string, read count) error {
	if err := c.note(element, read.last); err != nil {
		return err
	}
	return c.Write(context.Background(), tokenOf(token), fmt.Appendf(nil, "%d %q\n", read.n+1, element))
}

// note stores the element that precedes an element. The note comes before the write. If the writer is killed in
// between, or if the file refuses the write, an unused note remains.
func (c counterFile) note(element, before string) error {
	f, err := os.OpenFile(c.Path+".before", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", element, before) // one write call, so that all of the line arrives or nothing
	return errors.Join(err, f.Close())
}

func parse(text []byte) (now count, err error) {
	if len(text) > 0 {
		_, err = fmt.Sscanf(string(text), "%d %q", &now.n, &now.last)
	}
	return now, err
}

// list returns the elements of the writes that the final number contains.
func (c counterFile) list() (map[string]bool, error) {
	text, _, err := c.Peek(context.Background())
	if err != nil {
		return nil, err
	}
	now, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("resource: %s: %w", filepath.Base(c.Path), err)
	}
	b, err := os.ReadFile(c.Path + ".before")
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
		return nil, fmt.Errorf("resource: %s: %w", filepath.Base(c.Path), err)
	}
	return in, nil
}

// chain follows a list from its last element to its first. before names the element before each element. chain returns
// the elements that it met, or an error if it meets one twice.
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
