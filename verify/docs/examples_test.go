package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noExample has the calls that need no example, and why. A key is a type or one call.
var noExample = map[string]string{
	"node/rueidisnode.Node":       "its methods are those of the interfaces in package node: Holdfast calls them",
	"adapters/gocron.Locker.Lock": "gocron calls it",
	"fence.SQL":                   "the root module requires no database; ExampleSQL_Do compiles, and the example of verify/sql runs on SQLite",
}

// Each exported package has an example that go test runs, and so has each call that a user of the package makes.
// pkg.go.dev shows an example beside the package, type or call after which it is named.
//
// A call is a function, or a method that takes a context or a test or that returns an object of its package. A function
// that takes a *testing.T is none: an example has none. An example of the package must call it. If several types of the
// package have a method of this name, it must be an example of the type.
func TestEveryCallHasAnExample(t *testing.T) {
	t.Parallel()
	left := maps.Clone(noExample)
	excepted := func(keys ...string) (is bool) {
		for _, key := range keys {
			is = is || noExample[key] != ""
			delete(left, key)
		}
		return is
	}
	public, calls := 0, 0
	for path, p := range packages(t) {
		if strings.Contains("/"+path+"/", "/internal/") || slices.Contains([]string{"verify", "examples", "cmd/holdfast"}, p.module) {
			continue
		}
		public++
		doc, examples := documentation(t, path)
		if len(examples) == 0 {
			t.Errorf("%s has no example that runs: write one with a comment // Output:", path)
		}
		need := func(call string, shown func(example) bool) {
			of, _, _ := strings.Cut(call, ".")
			if calls++; !slices.ContainsFunc(examples, shown) && !excepted(path+"."+of, path+"."+call) {
				t.Errorf("%s: no example that runs calls %s", path, call)
			}
		}
		functions, methods := doc.Funcs, map[string]int{}
		for _, typ := range doc.Types {
			functions = append(functions, typ.Funcs...)
			for _, m := range typ.Methods {
				methods[m.Name]++
			}
		}
		for _, f := range functions {
			if !takes(f.Decl.Type, "T", "F") {
				need(f.Name, func(e example) bool { return e.calls[doc.Name+"."+f.Name] })
			}
		}
		for _, typ := range doc.Types {
			for _, m := range typ.Methods {
				if takes(m.Decl.Type, "Context", "TB") || makes(m.Decl.Type, doc) {
					need(typ.Name+"."+m.Name, func(e example) bool {
						return e.calls["."+m.Name] && (methods[m.Name] == 1 || e.of == typ.Name)
					})
				}
			}
		}
	}
	for key, why := range left {
		t.Errorf("%s needs no exception (%s)", key, why)
	}
	if public < 15 || calls < 120 {
		t.Errorf("only %d packages with %d calls found: are they still read correctly?", public, calls)
	}
}

// example is an example that go test runs.
type example struct {
	of    string          // the type or function after which it is named; "" for the package
	calls map[string]bool // "package.Function" and ".Method"
}

// documentation returns the documentation of a package and its examples.
func documentation(t *testing.T, path string) (*doc.Package, []example) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var code []*ast.File
	for _, file := range files {
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, f)
	}
	var tests []*ast.File
	for i, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			tests = append(tests, code[i])
		}
	}
	imported := map[string]bool{}
	for _, f := range tests {
		for _, i := range f.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			name = name[strings.LastIndex(name, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			imported[name] = true
		}
	}
	var examples []example
	for _, e := range doc.Examples(tests...) {
		if e.Output == "" && !e.EmptyOutput {
			continue // go test only compiles it
		}
		of, _, _ := strings.Cut(e.Name, "_")
		x := example{of: of, calls: map[string]bool{}}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := s.X.(*ast.Ident); ok && imported[of.Name] {
				x.calls[of.Name+"."+s.Sel.Name] = true
			} else {
				x.calls["."+s.Sel.Name] = true
			}
			return true
		})
		examples = append(examples, x)
	}
	p, err := doc.NewFromFiles(set, slices.DeleteFunc(code, func(f *ast.File) bool { return slices.Contains(tests, f) }), module+"/"+path)
	if err != nil {
		t.Fatal(err)
	}
	return p, examples
}

// takes reports whether the first parameter is a type of another package with one of these names.
func takes(f *ast.FuncType, names ...string) bool {
	if len(f.Params.List) == 0 {
		return false
	}
	of := f.Params.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	s, ok := of.(*ast.SelectorExpr)
	return ok && slices.Contains(names, s.Sel.Name)
}

// makes reports whether a method returns a pointer to a type of its package.
func makes(f *ast.FuncType, p *doc.Package) bool {
	return f.Results != nil && slices.ContainsFunc(f.Results.List, func(r *ast.Field) bool {
		pointer, ok := r.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		name, ok := pointer.X.(*ast.Ident)
		return ok && slices.ContainsFunc(p.Types, func(t *doc.Type) bool { return t.Name == name.Name })
	})
}
