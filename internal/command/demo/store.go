package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/holdfast-go/holdfast/fence"
)

// store is the resource that the lock protects. It is a file with a number, and the file refuses old fencing tokens. A
// single access is atomic, as in a database. A read and a later write together are not atomic. The lock protects this
// pair.
type store struct{ dir string }

// errOldToken means that the access had a token below an earlier one.
var errOldToken = fence.ErrStale

// file needs no fsync: the demo kills processes and cuts no power.
func (s store) file() fence.File {
	return fence.File{Path: filepath.Join(s.dir, "number"), NoSync: true}
}

// tokenOf returns a token for the file. Workers without a lock have none. They all get the same one, so the file
// refuses nobody.
func tokenOf(token int64) fence.Token { return fence.Token{Fence: max(token, 1)} }

// read returns the number. It also stores token if token is higher than all tokens before. From then on the file
// refuses older tokens.
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
