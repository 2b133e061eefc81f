package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// make mutants takes minutes. This test shows quickly that the list still fits the code.
func TestEveryMutantFitsTheCode(t *testing.T) {
	promises, err := os.ReadFile(filepath.Join(root, "docs", "design", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, changes := map[string]bool{}, map[string]string{}
	for _, m := range mutants() {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
		change := m.file + m.old + "→" + m.new + " in " + m.pkg // another package may also find it, by other means
		if other, twice := changes[change]; twice {
			t.Errorf("%q changes the same as %q", m.name, other)
		}
		changes[change] = m.name
		if !strings.Contains(string(promises), "\n| "+m.promise+" |") {
			t.Errorf("%q breaks %q, which docs/design/protocol.md does not promise", m.name, m.promise)
		}
		if strings.Contains(m.old+m.new, "\n") || m.old == m.new {
			t.Errorf("%q is no change of one line", m.name)
		}
		if _, err := m.apply(root); err != nil {
			t.Errorf("%q: %v", m.name, err)
		}
		if !tests(t, m.pkg)[m.test()] {
			t.Errorf("%q: ./%s has no %s", m.name, m.pkg, m.test())
		}
		if _, err := regexp.Compile(m.says); err != nil || m.says == "" {
			t.Errorf("%q must name what its check says: %v", m.name, err)
		}
	}
	if len(names) < 20 {
		t.Errorf("%d mutants; want 20 at least", len(names))
	}
}

func TestEverySimulatedWeakeningFitsTheCode(t *testing.T) {
	if !tests(t, simPkg)[simTest] {
		t.Errorf("./%s has no %s", simPkg, simTest)
	}
	names := map[string]bool{}
	for _, s := range allInSimulation() {
		if names[s.name] {
			t.Errorf("two weakenings are called %q", s.name)
		}
		names[s.name] = true
		if strings.Contains(s.old+s.new, "\n") || s.old == s.new {
			t.Errorf("%q is no change of one line", s.name)
		}
		if _, err := (mutant{file: s.file, old: s.old, new: s.new}).apply(root); err != nil {
			t.Errorf("%q: %v", s.name, err)
		}
		if strings.HasSuffix(s.file, ".lua") {
			t.Errorf("%q: the simulation's nodes run no Lua; see internal/nodemodel", s.name)
		}
	}
}

// The documents state the lengths of the lists.
func TestTheDocumentsCountTheMutants(t *testing.T) {
	for file, says := range map[string]string{
		"README.md": fmt.Sprintf("%d bugs put in on purpose", len(mutants())),
		filepath.Join("docs", "design", "verification.md"): fmt.Sprintf("| %d lines of the lock weakened", len(mutants())),
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), says) {
			t.Errorf("%s does not say %q", file, says)
		}
	}
}

// tests returns the names of a package's tests.
func tests(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// The bench itself is tested with three cases: a noticed weakening, an unnoticed weakening, and a change that weakens
// nothing.
func TestOnlyAFailureWithTheRightWordsKills(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "gate"))
	if err != nil {
		t.Fatal(err)
	}
	gate := mutant{file: "gate.go", old: "return n < 10", pkg: ".", check: "TestTenIsTooMany", says: "let ten in"}
	with := func(change func(*mutant)) mutant { m := gate; change(&m); return m }
	for _, c := range []struct {
		what string
		m    mutant
		want string // in the error; "" if the mutant is killed
	}{
		{"a weakening that shows", with(func(m *mutant) { m.new = "return n < 11" }), ""},
		{"a weakening of an embedded file", with(func(m *mutant) {
			m.file, m.old, m.new, m.says = "rule.lua", "return 'closed'", "return 'open'", "the rule is"
		}), ""},
		{"one that does not show", with(func(m *mutant) { m.new = "return n < 9" }), "SURVIVED"},
		{"one that shows otherwise", with(func(m *mutant) { m.new = "panic(n)" }), "does not say"},
		{"one that does not compile", with(func(m *mutant) { m.new = "return m < 10" }), "does not compile"},
		{"one that hangs", with(func(m *mutant) { m.new = "select {}"; m.args = "-test.timeout=1s" }), "no verdict"},
		{"one whose line is gone", with(func(m *mutant) { m.old, m.new = "return n < 12", "return true" }), "0 times"},
		{"one whose line is there twice", with(func(m *mutant) { m.old, m.new = "n", "m" }), "want exactly once"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBench(dir, t.TempDir())
			var line string
			m := <-b.ahead(context.Background(), []mutant{c.m})
			err := m.err
			if err == nil {
				_, line, err = b.kill(context.Background(), m)
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("not killed: %v", err)
			case c.want == "" && !strings.Contains(line, c.m.says):
				t.Errorf("killed by %q", line)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v; want an error with %q", err, c.want)
			}
		})
	}
	b := newBench(dir, t.TempDir())
	asItIs := func(m mutant) error { return b.asItIs(context.Background(), b.buildBoth(context.Background(), m)) }
	if err := asItIs(with(func(m *mutant) { m.check = "TestThatFails" })); err == nil || !strings.Contains(err.Error(), "it fails") {
		t.Errorf("a check that fails without a weakening: %v", err)
	}
	if err := asItIs(with(func(m *mutant) { m.check = "TestThatIsNotThere" })); err == nil || !strings.Contains(err.Error(), "there is no test") {
		t.Errorf("a check that is not there: %v", err)
	}
	if err := asItIs(gate); err != nil {
		t.Error(err)
	}
}
