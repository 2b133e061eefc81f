//go:build !linux

package main

import (
	"errors"
	"time"
)

// On other systems than Linux, the bench measures the machine as it is: with -cpus asis, without -pin and -delay.

var errOtherOS = errors.New("only Linux can do that")

var processors []int

func pin(int, []int) error { return errOtherOS }

func keepAwake(int) error { return errOtherOS }

func spin() {}

func processCPU(int) time.Duration { return 0 }

type relay struct{}

func newRelay([]string, time.Duration) (*relay, []string, error) { return nil, nil, errOtherOS }

func (*relay) run() error { return errOtherOS }
