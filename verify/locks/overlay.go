package locks

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed recorder.go.txt
var recorder []byte

const (
	module = "github.com/holdfast-go/holdfast"
	within = "internal/core/lockorder" // the folder in which the overlay puts the recorder
)

// overlay writes the changed files of the library into dir. It returns the file for the flag -overlay, and the mutexes.
func overlay(root, dir string) (flag string, mutexes []string, err error) {
	replace := map[string]string{filepath.Join(root, within, "lockorder.go"): filepath.Join(dir, "recorder.go")}
	if err := os.WriteFile(filepath.Join(dir, "recorder.go"), recorder, 0o644); err != nil {
		return "", nil, err
	}
	for _, pattern := range []string{"*.go", "election/*.go", "internal/core/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, found, err := changed(file)
			if err != nil {
				return "", nil, err
			}
			if len(found) == 0 {
				continue
			}
			to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
			if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
				return "", nil, err
			}
			replace[file] = to
			mutexes = append(mutexes, found...)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	slices.Sort(mutexes)
	flag = filepath.Join(dir, "overlay.json")
	return flag, mutexes, os.WriteFile(flag, list, 0o644)
}

// changed returns the text of a file in which each field that is a mutex records, and the names of these mutexes.
func changed(file string) (text string, mutexes []string, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, 0)
	if err != nil {
		return "", nil, err
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	markers := ""
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range structure.Fields.List {
			of, ok := field.Type.(*ast.SelectorExpr)
			if !ok || len(field.Names) == 0 || !strings.HasSuffix(of.Sel.Name, "Mutex") {
				continue
			}
			if pkg, ok := of.X.(*ast.Ident); !ok || pkg.Name != "sync" {
				continue
			}
			marker := fmt.Sprintf("lockOf_%s_%s", spec.Name.Name, field.Names[0].Name)
			markers += "\ntype " + marker + " struct{}\n"
			edits = append(edits, edit{
				fset.Position(of.Pos()).Offset, fset.Position(of.End()).Offset, "lockorder." + of.Sel.Name + "[" + marker + "]",
			})
			mutexes = append(mutexes, fmt.Sprintf("%s.%s.%s", f.Name.Name, spec.Name.Name, field.Names[0].Name))
		}
		return false
	})
	if len(edits) == 0 {
		return "", nil, nil
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	text = string(source)
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	end := fset.Position(f.Name.End()).Offset
	text = text[:end] + "\n\nimport \"" + module + "/" + within + "\"\n" + text[end:] + "\nvar _ sync.Mutex\n" + markers
	return text, mutexes, nil
}
