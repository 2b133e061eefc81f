package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// workerArg makes the program a worker. A worker reads a setup and then slices, as JSON, from its input. It answers
// each with an outcome, and ends at the end of its input. Two kinds of workers get no slices, and end when they are
// killed: one keeps a CPU awake, and the other is a relay.
const workerArg = "-worker"

type setup struct {
	System string
	URLs   []string
	Awake  *int          // if set: the CPU to keep awake
	Delay  time.Duration // if set: the delay of the relay
}

type answer struct {
	Error   string   // the reason why the worker cannot go on, or ""
	URLs    []string // of a relay
	Outcome outcome
}

func work(in io.Reader, out io.Writer) int {
	read, write := json.NewDecoder(in), json.NewEncoder(out)
	fail := func(err error) int {
		_ = write.Encode(answer{Error: err.Error()})
		return 1
	}
	var to setup
	if err := read.Decode(&to); err != nil {
		return fail(err)
	}
	switch {
	case to.Awake != nil:
		if err := keepAwake(*to.Awake); err != nil {
			return fail(err)
		}
		if err := write.Encode(answer{}); err != nil {
			return 1
		}
		spin()
	case to.Delay > 0:
		r, urls, err := newRelay(to.URLs, to.Delay)
		if err != nil {
			return fail(err)
		}
		if err := write.Encode(answer{URLs: urls}); err != nil {
			return 1
		}
		fmt.Fprintf(os.Stderr, "bench: the relay failed: %v\n", r.run())
		return 1
	}
	sys, err := systemNamed(to.System)
	if err != nil {
		return fail(err)
	}
	l, err := sys.open(to.URLs)
	if err != nil {
		return fail(err)
	}
	defer l.close()
	if err := write.Encode(answer{}); err != nil {
		return 1
	}
	for {
		var s slice
		switch err := read.Decode(&s); err {
		case nil:
		case io.EOF:
			return 0
		default:
			return fail(err)
		}
		if late := time.Since(s.Begin); late > s.Warm {
			fmt.Fprintf(os.Stderr, "bench: %s begins %v late\n", sys.name, late)
		}
		var a answer
		if a.Outcome, err = play(l, s); err != nil {
			return fail(err)
		}
		if err := write.Encode(a); err != nil {
			return 1
		}
	}
}

// play runs one slice with a locker.
func play(l locker, s slice) (outcome, error) {
	if d, ok := l.(driven); ok {
		return d.drive(s)
	}
	if !s.Record && !s.Once {
		return gather(l, s), nil
	}
	f, ok := l.(fenced)
	switch {
	case !ok:
		return outcome{}, errors.New("its leases have no tokens")
	case s.Once:
		return once(f, s), nil
	}
	r := &recorder{fenced: f}
	o := gather(r, s)
	o.Records = r.records
	return o, nil
}
