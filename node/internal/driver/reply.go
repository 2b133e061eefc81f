package driver

import (
	"errors"
	"fmt"
)

// ErrReplyType is the error of a call whose script ran, but answered with an array, a map or another type that a
// Reply cannot have.
var ErrReplyType = errors.New("script answered with something else than a string, a number or nil")

// Part returns err with the part of an Eval that failed. Part 0 is the script itself. Part 1 is the first load.
func Part(i int, err error) error {
	if i <= 0 {
		return err
	}
	return fmt.Errorf("script load %d: %w", i, err)
}
