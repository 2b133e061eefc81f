package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/holdfast-go/holdfast/fence"
)

// store is the resource that the lock protects: a file with a number. The file refuses old fencing tokens. Each access
// is atomic, as in a database. But a read and a later write are two accesses, and another worker could write between
// them. The lock prevents that.
type store struct{ dir string }

// errOldToken means that an earlier access had a higher token.
var errOldToken = fence.ErrStale

// file returns the file. It needs no fsync, because the demo kills processes but does not cut the power.
func (s store) file() fence.File {
	return fence.File{Path: filepath.Join(s.dir, "number"), NoSync: true}
}

// tokenOf returns a token for the file. Workers without a lock have no token. They all get the same one, so the file
// refuses none of them.
func tokenOf(token int64) fence.Token { return fence.Token{Fence: max(token, 1)} }

// read returns the number. If token is higher than all tokens before, the file stores it, and refuses lower ones from
// then on.
func (s store) read(token int64) (number int64, err error) {
	value, err := s.file().Read(context.Background(), tokenOf(token))
	if err != nil {
		return 0, err
	}
	return s.parse(value)
}

// write stores a number.
func (s store) write(number, token int64) error {
	return s.file().Write(context.Background(), tokenOf(token), fmt.Appendf(nil, "%d\n", number))
}

// highest returns the highest token of all accesses so far.
func (s store) highest() (int64, error) {
	_, token, err := s.load()
	return token, err
}

// load returns the number and the highest token. They are 0 if the file does not exist yet.
func (s store) load() (number, token int64, err error) {
	value, marks, err := s.file().Peek(context.Background())
	if err != nil {
		return 0, 0, err
	}
	number, err = s.parse(value)
	return number, marks.Writer, err
}

func (s store) parse(value []byte) (int64, error) {
	if len(value) == 0 {
		return 0, nil
	}
	number, err := strconv.ParseInt(string(value[:len(value)-1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", s.file().Path, err)
	}
	return number, nil
}
