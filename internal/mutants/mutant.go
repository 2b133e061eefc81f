package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mutant is a mistake somebody might make in one line, and the check that must notice.
type mutant struct {
	name    string // what is weakened, in words
	promise string // the row of the table in docs/protocol.md that it breaks
	file    string // from the module's root
	old     string // stands in file exactly once, within one line
	new     string // takes its place
	pkg     string // of the check, from the module's root
	check   string // for -run: a test, or a part of one behind a slash
	says    string // regular expression: what the check says when it fails because of this
	args    string // flags of the check, if it has any
	hangs   bool   // what it does is wait for ever: the check has a bound of its own

	within time.Duration // how long the check may take; 0: as long as all others
}

// test is the function behind the check.
func (m mutant) test() string {
	name, _, _ := strings.Cut(m.check, "/")
	return name
}

// how is what the check does about it.
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
