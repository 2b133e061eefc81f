package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"
)

// state is the state of the machine during a workload.
type state struct {
	awake  bool          // a process spins on each CPU, so that no CPU halts
	pinned bool          // the servers share the last CPU, and the clients share the others
	delay  time.Duration // between clients and servers, each way
}

// usual is the state of all workloads, unless flags ask for another one. The demands are for this state, or for the
// states of a lone caller.
var usual = state{awake: true}

// otherStates lists the states in which the command all also measures a lone caller.
var otherStates = []state{{}, {awake: true, delay: 300 * time.Microsecond}}

// maxDelay is far below the time in which a node must answer.
const maxDelay = 100 * time.Millisecond

func (s *state) flags(f *flag.FlagSet) {
	*s = usual
	f.Func("cpus", "the `state` of the CPUs: awake, because a spinning process on each yields to all others, or asis (default awake)", func(text string) error {
		if text != "awake" && text != "asis" {
			return errors.New("it must be awake or asis")
		}
		s.awake = text == "awake"
		return nil
	})
	f.BoolVar(&s.pinned, "pin", false, "the servers share the last CPU, and the clients share the others")
	f.Func("delay", "delay all that clients and servers send by this `time`, each way, such as 300us (default 0)", func(text string) (err error) {
		if s.delay, err = time.ParseDuration(text); err != nil || s.delay < 0 || s.delay > maxDelay {
			return fmt.Errorf("it must be from 0 to %v, such as 300us", maxDelay)
		}
		return nil
	})
}

func (s state) check() error {
	if n := len(processors); s.pinned && n < 2 {
		return fmt.Errorf("-pin needs two CPUs, but this process may use %d: measure without -pin, or see taskset(1)", n)
	}
	return nil
}

// suffix returns the end of the names of workloads in this state.
func (s state) suffix() (text string) {
	if !s.awake {
		text += "-asis"
	}
	if s.pinned {
		text += "-pin"
	}
	if s.delay > 0 {
		text += "-" + strings.ReplaceAll(s.delay.String(), "µ", "u")
	}
	return text
}

// title returns the end of the titles of workloads in this state.
func (s state) title() (text string) {
	if !s.awake {
		text += ", CPUs as they are"
	}
	if s.pinned {
		text += ", pinned"
	}
	if s.delay > 0 {
		text += fmt.Sprintf(", a delay of %v each way", s.delay)
	}
	return text
}

// String describes the state in the report.
func (s state) String() string {
	text := "CPUs as they are: an idle CPU may halt, and then takes time to wake up"
	if s.awake {
		text = "CPUs awake: on each, a process of the class SCHED_IDLE spins; it yields to all others, and counts in the load average"
	}
	if s.pinned {
		text += "; the servers share the last CPU, and the clients share the others"
	}
	if s.delay > 0 {
		text += fmt.Sprintf("; a process delays all that clients and servers send by %v, each way", s.delay)
	}
	return text
}
