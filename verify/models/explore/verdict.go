package explore

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	full  = flag.Bool("models.full", false, "run the configurations of the models with more than a million states, too")
	large = flag.Bool("models.large", false, "and those that take minutes")
	table = flag.String("models.table", "", "append a table of what the models say to this file")
)

// limit bounds a search. Make a larger model smaller; do not cut it off.
const limit = 30_000_000

// Size is the cost of a configuration.
type Size uint8

// These are the sizes.
const (
	Small Size = iota // a second, or ten with the race detector: always runs
	Full              // more than a million states, about ten seconds: with -models.full
	Large             // minutes: with -models.large
)

// Wanted reports whether to run configurations of this size.
func (s Size) Wanted() bool {
	return s == Small || *large || s == Full && *full
}

// Holds requires that a model keeps all its promises in every reachable state.
func Holds[S comparable](t *testing.T, name string, m Model[S]) Result {
	t.Helper()
	r := Run(m, limit)
	row(t, name, r)
	switch {
	case r.Broken != "":
		t.Errorf("%s: %s\n%s", name, r.Broken, Numbered(r.Trace))
	case !r.Full:
		t.Errorf("%s: more than %d states: not searched to the end", name, limit)
	}
	return r
}

// Breaks requires that a weakened model breaks a promise, and prints how.
func Breaks[S comparable](t *testing.T, name string, m Model[S]) {
	t.Helper()
	r := Run(m, limit)
	row(t, name, r)
	if r.Broken == "" {
		t.Errorf("%s: no promise is broken in %d states: the model does not see what is missing", name, r.States)
		return
	}
	t.Logf("%s\n%s    => %s", name, Numbered(r.Trace), r.Broken)
}

// Numbered returns a trace, one step per line.
func Numbered(trace []string) string {
	var b strings.Builder
	for i, said := range trace {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, said)
	}
	return b.String()
}

// row adds a line to the table.
func row(t *testing.T, name string, r Result) {
	verdict := "holds"
	if r.Broken != "" {
		verdict = "VIOLATED: " + r.Broken
	}
	line := fmt.Sprintf("| %s | %d | %s | %d MiB | %.1f s |", name, r.States, verdict, r.Bytes>>20, r.Took.Round(10*time.Millisecond).Seconds())
	t.Log(line)
	if *table == "" {
		return
	}
	f, err := os.OpenFile(*table, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
}
