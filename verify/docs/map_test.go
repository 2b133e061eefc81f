package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("docs.write", false, "write the list of packages into docs/ARCHITECTURE.md")

// pkg is a package of this repository.
type pkg struct {
	path, module, doc string
	imports           []string
	floor             int // the longest chain of imports below it
}

// packages returns the packages of all modules, by path relative to the root.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	dirs, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-f", "{{.ImportPath}}\t{{.Module.Path}}\t{{.Doc}}\t{{join .Imports \" \"}}"}
	out, err := exec.Command("go", append(args, strings.Fields(string(dirs))...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*pkg{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		p := &pkg{path: within(f[0]), module: within(f[1]), doc: f[2]}
		for _, i := range strings.Fields(f[3]) {
			if strings.HasPrefix(i, module) {
				p.imports = append(p.imports, within(i))
			}
		}
		all[p.path] = p
	}
	var floor func(p *pkg) int
	floor = func(p *pkg) int {
		for _, i := range p.imports {
			p.floor = max(p.floor, floor(all[i])+1)
		}
		return p.floor
	}
	for _, p := range all {
		floor(p)
	}
	return all
}

// within returns an import path relative to the root, "." for the root.
func within(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// The list of packages in ARCHITECTURE.md is made from the first sentences of the packages' documentation, so it has no
// hole and is never old. The packages of a module stand in the order of their imports, from the top down.
func TestTheListOfPackagesIsComplete(t *testing.T) {
	const document = "docs/ARCHITECTURE.md"
	byModule := map[string][]*pkg{}
	for _, p := range packages(t) {
		byModule[p.module] = append(byModule[p.module], p)
	}
	var list strings.Builder
	modules := []string{"."}
	for m := range byModule {
		if m != "." && m != "verify" {
			modules = append(modules, m)
		}
	}
	slices.Sort(modules)
	names := regexp.MustCompile(`^(Package|Command) \w+ `)
	for _, m := range append(modules, "verify") {
		all := byModule[m]
		slices.SortFunc(all, func(a, b *pkg) int {
			if c := strings.Compare(part(a), part(b)); c != 0 {
				return c
			}
			if c := b.floor - a.floor; c != 0 {
				return c
			}
			return strings.Compare(a.path, b.path)
		})
		if m == "." {
			list.WriteString("\n**The library**\n\n")
		} else {
			fmt.Fprintf(&list, "\n**%s**\n\n", m)
		}
		for _, p := range all {
			if p.doc == "" {
				t.Errorf("%s has no documentation", p.path)
			}
			list.WriteString(wrapped(fmt.Sprintf("- [`%s`](../%s) %s", p.path, p.path, names.ReplaceAllString(p.doc, ""))))
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), "-docs.write` -->\n")
	_, tail, ends := strings.Cut(rest, "<!-- end of packages -->")
	if !found || !ends {
		t.Fatalf("%s has no place for the list of packages", document)
	}
	want := head + "-docs.write` -->\n" + list.String() + "\n<!-- end of packages -->" + tail
	if want == string(text) {
		return
	}
	if *write {
		if err := os.WriteFile(document, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the list of packages in %s is old: run go test ./verify/docs -docs.write", document)
}

// wrapped breaks an item of a list into lines of at most 120 columns.
func wrapped(item string) string {
	var lines strings.Builder
	column := 0
	for i, word := range strings.Fields(item) {
		switch {
		case i > 0 && column+1+len(word) > 120:
			lines.WriteString("\n  ")
			column = 2
		case i > 0:
			lines.WriteByte(' ')
			column++
		}
		lines.WriteString(word)
		column += len(word)
	}
	return lines.String() + "\n"
}

// part orders the packages of a module: the public ones first, then the engine, then what tests use.
func part(p *pkg) string {
	switch {
	case !strings.Contains(p.path, "internal"):
		return "0"
	case strings.HasPrefix(p.path, "internal/core"):
		return "1"
	}
	return "2"
}

// A list of files in the documentation of a package names every file, and no other one.
func TestListsOfFilesAreComplete(t *testing.T) {
	listed := 0
	for path := range packages(t) {
		doc, err := os.ReadFile(filepath.Join(path, "doc.go"))
		if err != nil || !regexp.MustCompile(`(?m)^//\t\w+\.go\b`).Match(doc) {
			continue
		}
		listed++
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			if name != "doc.go" && !strings.HasSuffix(name, "_test.go") && !strings.Contains(string(doc), name) {
				t.Errorf("the list in %s/doc.go lacks %s", path, name)
			}
		}
		for _, name := range regexp.MustCompile(`\b\w+\.go\b`).FindAllString(string(doc), -1) {
			if !slices.Contains(files, filepath.Join(path, name)) {
				t.Errorf("%s/doc.go names %s, which does not exist", path, name)
			}
		}
	}
	if listed < 10 {
		t.Errorf("only %d lists of files found: is the pattern still right?", listed)
	}
}
