package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// store is the resource that the lock protects. It is a file with a number and the highest fencing token of all
// accesses so far. A single access is atomic, as in a database, because it holds a lock file. A read and a later write
// together are not atomic. The lock protects this pair.
type store struct{ dir string }

// errOldToken means that the access had a token below an earlier one.
var errOldToken = errors.New("refused: the fencing token is old")

func (s store) path() string { return filepath.Join(s.dir, "number") }

// read returns the number. It also stores token if token is higher than all tokens before. From then on the file
// refuses older tokens.
func (s store) read(token int64) (number int64, err error) {
	err = s.access(token, func(n int64) int64 { number = n; return n })
	return number, err
}

// write stores a number.
func (s store) write(number, token int64) error {
	return s.access(token, func(int64) int64 { return number })
}

// highest returns the highest token of all accesses so far.
func (s store) highest() (int64, error) {
	_, token, err := s.load()
	return token, err
}

func (s store) access(token int64, change func(int64) int64) error {
	guard, err := os.OpenFile(filepath.Join(s.dir, "guard"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer guard.Close()
	if err := lockFile(guard); err != nil {
		return err
	}
	number, highest, err := s.load()
	switch {
	case err != nil:
		return err
	case token < highest:
		return errOldToken
	}
	// The rename is atomic: if this process is killed here, the old file or the new file is left.
	next := filepath.Join(s.dir, "number.next")
	if err := os.WriteFile(next, fmt.Appendf(nil, "%d %d\n", change(number), token), 0o600); err != nil {
		return err
	}
	return os.Rename(next, s.path())
}

// load reads the file. It returns 0 and 0 if the file does not exist yet.
func (s store) load() (number, token int64, err error) {
	b, err := os.ReadFile(s.path())
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(string(b), "%d %d\n", &number, &token); err != nil {
		return 0, 0, fmt.Errorf("read %s: %w", s.path(), err)
	}
	return number, token, nil
}
