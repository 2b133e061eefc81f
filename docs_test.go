package holdfast_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var documents = []string{"README.md", "docs/protocol.md", "docs/operating.md", "docs/development.md"}

// What the documents call a test must be one.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	have := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "node/nodetest/") {
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(b, -1) {
			have[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	placeholder := regexp.MustCompile(`(?m)^[A-Z]{6,}$`)
	named := 0
	for _, doc := range documents {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		if words := placeholder.FindString(string(b)); words != "" {
			t.Errorf("%s has %q where something was to be filled in", doc, words)
		}
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`).FindAllString(string(b), -1) {
			named++
			if !have[name] {
				t.Errorf("%s names %s, which does not exist", doc, name)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d names of tests found in the documents: is the pattern still right?", named)
	}
}

// Links between documents and into the code lead somewhere.
func TestDocumentsLinkToFilesThatExist(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for _, doc := range documents {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllSubmatch(b, -1) {
			to := string(m[1])
			if strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), to)); err != nil {
				t.Errorf("%s links to %s: %v", doc, to, err)
			}
		}
	}
}

// Whole programs in the documents compile and pass vet.
func TestProgramsInDocumentsCompile(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	found := 0
	for _, doc := range documents {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range blocks.FindAllSubmatch(b, -1) {
			found++
			// Inside the module, so that its packages are found; the go command ignores
			// names that begin with a dot elsewhere.
			dir, err := os.MkdirTemp(".", ".program-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := os.WriteFile(filepath.Join(dir, "main.go"), m[1], 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", "./"+dir).CombinedOutput(); err != nil {
				t.Errorf("program in %s: %v\n%s", doc, err, out)
			}
		}
	}
	if found == 0 {
		t.Error("no program found in the documents: is the pattern still right?")
	}
}
