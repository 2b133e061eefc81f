package cli

import (
	"strings"
	"testing"
)

// A reload finds every change of a variable.
func TestAChangedVariableIsFound(t *testing.T) {
	parse := func(file string) cronJob {
		jobs, err := parseCrontab("f", strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		return jobs[0]
	}
	a, b := parse("A=1 B=2\nevery 1h x true\n"), parse("A=1\nB=2\nevery 1h x true\n")
	if a.same(b) {
		t.Errorf("%q and %q are said to be the same", a.env, b.env)
	}
}
