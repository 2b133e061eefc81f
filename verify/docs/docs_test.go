package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// documents returns all documents for readers: those in the root, and those in docs and its folders.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			docs = append(docs, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "STYLE.md", "docs/guide/operating.md", "docs/design/protocol.md", "docs/results/performance.md"} {
		if !slices.Contains(docs, doc) {
			t.Fatalf("found %q, without %s: are the documents in another place?", docs, doc)
		}
	}
	return docs
}

// tests returns the names of all tests by their folder, and the text of the tests.
func tests(t *testing.T) (names map[string][]string, text map[string]string) {
	t.Helper()
	names, text = map[string][]string{}, map[string]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "node/nodetest/") {
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		b, err := os.ReadFile(path)
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, m := range declared.FindAllSubmatch(b, -1) {
			names[dir] = append(names[dir], string(m[1]))
		}
		text[dir] += string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, text
}

// Each test that the documents name exists, and each script of the command.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	names, _ := tests(t)
	for _, in := range names {
		for _, name := range in {
			have[name] = true
		}
	}
	placeholder := regexp.MustCompile(`(?m)^[A-Z]{6,}$`)
	named := 0
	for _, doc := range documents(t) {
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
		for _, m := range regexp.MustCompile(`\bTestScripts/([\w-]+)`).FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat("cmd/holdfast/internal/cli/testdata/script/" + m[1] + ".txtar"); err != nil {
				t.Errorf("%s names a script that does not exist: %v", doc, err)
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d names of tests found in the documents: is the pattern still right?", named)
	}
}

// A command that runs tests finds them in its folder, and ends by itself. Otherwise go test says "no tests to run" and
// passes.
func TestCommandsInDocumentsFindTheirTests(t *testing.T) {
	t.Parallel()
	names, text := tests(t)
	command := regexp.MustCompile("(?m)`go test ([^`]+)`|^    go test (.*)$")
	checked := 0
	for _, doc := range documents(t) {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(b), -1) {
			words := strings.Fields(m[1] + m[2])
			which, dir, more := "", "", []string(nil)
			for i, word := range words {
				switch {
				case i > 0 && (words[i-1] == "-run" || words[i-1] == "-fuzz"):
					which = strings.Trim(word, `'"`)
				case word == "." || strings.HasPrefix(word, "./"):
					dir = filepath.ToSlash(filepath.Clean(word))
					more = append(more, names[dir]...)
				}
			}
			if slices.Contains(words, "-fuzz") && !slices.Contains(words, "-fuzztime") {
				t.Errorf("%s: go test %s never ends: give it -fuzztime", doc, strings.Join(words, " "))
			}
			if which == "" {
				continue
			}
			checked++
			test, part, _ := strings.Cut(which, "/")
			pattern, err := regexp.Compile(test)
			if regexp.MustCompile(`^(Test|Fuzz)\w+$`).MatchString(test) {
				pattern, err = regexp.Compile("^" + test + "$")
			}
			if err != nil {
				t.Errorf("%s: go test %s: %v", doc, strings.Join(words, " "), err)
				continue
			}
			if !slices.ContainsFunc(more, pattern.MatchString) {
				t.Errorf("%s: go test %s: no such test in %q", doc, strings.Join(words, " "), dir)
			}
			if _, err := os.Stat(filepath.Join(dir, "testdata/script", part+".txtar")); part != "" && err == nil {
				continue // the part is a script of the command
			}
			if part = strings.ReplaceAll(part, "_", " "); !strings.Contains(text[dir], part) {
				t.Errorf("%s: go test %s: no test in %q speaks of %q", doc, strings.Join(words, " "), dir, part)
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands found in the documents: is the pattern still right?", checked)
	}
}

// Links between documents and into the code have a target, and so have links to a heading.
func TestDocumentsLinkToFilesThatExist(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)]*)?\)`)
	headings := 0
	for _, doc := range documents(t) {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(string(b), -1) {
			to, heading := filepath.Join(filepath.Dir(doc), m[1]), m[2]
			if strings.Contains(m[1], "://") {
				continue
			}
			if m[1] == "" {
				to = doc
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", doc, to, err)
				continue
			}
			if heading == "" || !strings.HasSuffix(to, ".md") {
				continue
			}
			headings++
			if !slices.Contains(anchors(t, to), heading) {
				t.Errorf("%s links to %s%s: no such heading", doc, to, heading)
			}
		}
	}
	if headings < 20 {
		t.Errorf("only %d links to headings found in the documents: is the pattern still right?", headings)
	}
}

// anchors returns the names that GitHub makes of the headings of a document, each after a #.
func anchors(t *testing.T, doc string) (names []string) {
	t.Helper()
	b, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(b), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, "#"+strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// Whole programs in the documents compile and pass vet. With -short they only compile, because vet reads every package
// of Go that they import: 40 s of processor at the first time. make lint and make verify run it in full.
func TestProgramsInDocumentsCompile(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	check := []string{"vet"}
	if testing.Short() {
		check = []string{"build", "-o", os.DevNull}
		if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
			check = append(check, "-race") // so that the packages of this test are not built once more
		}
	}
	found := 0
	for _, doc := range documents(t) {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range blocks.FindAllSubmatch(b, -1) {
			found++
			// The folder is inside a module that requires all others. The go command ignores names that begin with a
			// dot.
			dir, err := os.MkdirTemp("verify", ".program-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := os.WriteFile(filepath.Join(dir, "main.go"), m[1], 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", append(check, "./"+dir)...).CombinedOutput(); err != nil {
				t.Errorf("program in %s: %v\n%s", doc, err, out)
			}
		}
	}
	if found == 0 {
		t.Error("no program found in the documents: is the pattern still right?")
	}
}

// make help is a pattern over the Makefile. It must match every target.
func TestDocumentedTargetsAreInMakeHelp(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("make", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^(\S[^:=\n]*?):[^=\n]*##`).FindAllSubmatch(makefile, -1)
	if len(list) < 15 {
		t.Errorf("only %d targets found in the Makefile: is the pattern still right?", len(list))
	}
	for _, m := range list {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(string(m[1])) + ` `).Match(help) {
			t.Errorf("make help does not list %s:\n%s", m[1], help)
		}
	}
}

// Each target of the Makefile is started by a check: by make verify or .ci/run, or as a part of one of their targets. A
// target that nobody starts stops working, and nobody notices.
func TestEveryTargetIsStarted(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	checks := regexp.MustCompile(`(?m)^checks="(.*)"$`).FindStringSubmatch(read("scripts/verify.sh"))
	continuous := regexp.MustCompile(`(?m)^exec make (.*)$`).FindStringSubmatch(read(".ci/run"))
	if checks == nil || continuous == nil {
		t.Fatal("no list of checks in scripts/verify.sh or .ci/run: is the pattern still right?")
	}
	started := map[string]bool{"help": true, "verify": true} // the first has a test of its own; the second starts all others
	rules := regexp.MustCompile(`(?m)^([a-z][a-z -]*):([^=#\n]*)##`).FindAllStringSubmatch(read("Makefile"), -1)
	var start func(target string)
	start = func(target string) {
		for _, rule := range rules {
			names := strings.Fields(rule[1])
			if !slices.Contains(names, target) || started[target] {
				continue
			}
			for _, name := range names {
				started[name] = true
			}
			for _, needed := range strings.Fields(rule[2]) {
				start(needed)
			}
		}
	}
	for _, target := range strings.Fields(checks[1] + " " + continuous[1]) {
		start(target)
	}
	if len(rules) < 15 {
		t.Errorf("only %d targets found in the Makefile: is the pattern still right?", len(rules))
	}
	for _, rule := range rules {
		for _, name := range strings.Fields(rule[1]) {
			if !started[name] {
				t.Errorf("no check starts make %s", name)
			}
		}
	}
}

// A line of a document has at most 120 characters, so that a change of a sentence is a small diff. Tables, code and
// addresses cannot be broken.
func TestLinesOfDocumentsAreShort(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fenced := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			free := fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.Contains(line, "](") || strings.Contains(line, "://")
			if n := utf8.RuneCountInString(line); n > 120 && !free {
				t.Errorf("%s:%d has %d characters; break it at 120", name, i+1, n)
			}
		}
	}
}
