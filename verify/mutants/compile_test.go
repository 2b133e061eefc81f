package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A weakening that does not compile is noticed by no check. This test finds it in seconds: it checks the types of the
// weakened package, and takes the other packages from the build cache.
func TestEveryMutantCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute of processor; make verify runs it, and make mutants compiles each mutant")
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	list := mutants()
	for _, s := range allInSimulation() {
		list = append(list, mutant{name: "simulated: " + s.name, file: s.file, old: s.old, new: s.new})
	}
	args, asked := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}, map[string]bool{}
	for _, m := range list {
		if dir := "./" + filepath.Dir(m.file); strings.HasSuffix(m.file, ".go") && !asked[dir] {
			asked[dir] = true
			args = append(args, dir)
		}
	}
	c := exec.Command("go", args...)
	c.Dir, c.Stderr = top, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	byPath, byDir := map[string]listed{}, map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		byPath[p.ImportPath], byDir[p.Dir] = p, p
	}
	fset := token.NewFileSet()
	built := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(byPath[path].Export) })
	for _, m := range list {
		if !strings.HasSuffix(m.file, ".go") {
			continue
		}
		text, err := m.apply(top)
		if err != nil {
			t.Errorf("%q: %v", m.name, err)
			continue
		}
		p, weak := byDir[filepath.Join(top, filepath.Dir(m.file))], false
		var files []*ast.File
		for _, name := range p.GoFiles {
			var src any
			if name == filepath.Base(m.file) {
				src, weak = text, true
			}
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), src, 0)
			if err != nil {
				t.Errorf("%q: %v", m.name, err)
				continue
			}
			files = append(files, f)
		}
		if !weak {
			if runtime.GOOS == "linux" {
				t.Errorf("%q: %s is not built on Linux", m.name, m.file)
			}
			continue
		}
		if _, err := (&types.Config{Importer: built}).Check(p.ImportPath, fset, files, nil); err != nil {
			t.Errorf("%q: %v", m.name, err)
		}
	}
}
