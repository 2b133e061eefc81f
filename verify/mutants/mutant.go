package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mutant is a possible mistake in one line, and the check that must notice it.
type mutant struct {
	name    string // the weakening, in words
	promise string // the row of the table in docs/design/protocol.md that it breaks
	file    string // the path from the module's root
	old     string // occurs in file exactly once, within one line
	new     string // replaces old
	pkg     string // the package of the check: its path from the module's root
	check   string // for -run: a test, or a part of one behind a slash
	says    string // regular expression for the check's message when it fails because of this
	args    string // flags of the check, if it has any
	hangs   bool   // the weakened lock waits forever: the check has its own limit

	within time.Duration // the longest time of the check; 0: the usual one
}

// test returns the function that contains the check.
func (m mutant) test() string {
	name, _, _ := strings.Cut(m.check, "/")
	return name
}

// how returns how the check notices the mutant.
func (m mutant) how() string {
	if m.hangs {
		return "bound"
	}
	return "fails"
}

// apply returns the weakened file.
func (m mutant) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s contains %q %d times; want exactly once", m.file, m.old, n)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}
