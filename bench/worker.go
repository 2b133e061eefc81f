package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// workerArg makes the program a worker: it reads a setup and then slices, as JSON on
// its input, answers each with an outcome, and ends with its input.
const workerArg = "-worker"

type setup struct {
	System string
	URLs   []string
}

type answer struct {
	Error   string // "" or why it cannot go on
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
		if d, ok := l.(driven); ok {
			a.Outcome, err = d.drive(s)
			if err != nil {
				return fail(err)
			}
		} else {
			a.Outcome = gather(l, s)
		}
		if err := write.Encode(a); err != nil {
			return 1
		}
	}
}
