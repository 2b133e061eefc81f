package driver

import (
	"errors"
	"fmt"
)

// ErrReplyType is the error of a call whose script ran and answered with an array, a map or a similar type.
var ErrReplyType = errors.New("script answered with something else than a string, a number or nil")

// Part says which part of an Eval failed with err. Part 0 is the script itself, and the loads count from 1.
func Part(i int, err error) error {
	if i <= 0 {
		return err
	}
	return fmt.Errorf("script load %d: %w", i, err)
}
