package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// noExample has the calls that need no example, and why. A key is a package, one of its types, or one call.
var noExample = map[string]string{}

// Each exported package has an example that go test runs, and so has each call that a user of the package makes.
// pkg.go.dev shows an example with the package, type or call after which it is named. A call is a function, or a method
// that takes a context or a test, or that returns an object of the package. A method has an example if an example of
// its type calls it. A function has one if any example of its package calls it.
func TestEveryCallHasAnExample(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	excepted := func(keys ...string) bool {
		found := false
		for _, key := range keys {
			if noExample[key] != "" {
				used[key], found = true, true
			}
		}
		return found
	}
	public, calls := 0, 0
	for path, p := range packages(t) {
		if strings.Contains("/"+path+"/", "/internal/") || p.module == "verify" || p.module == "examples" || p.module == "cmd/holdfast" {
			continue
		}
		public++
		name := strings.TrimPrefix(path, "./")
		doc, examples := documentation(t, path)
		if len(examples) == 0 && !excepted(name) {
			t.Errorf("%s has no example with a comment // Output:", name)
		}
		need := func(of, call string, found bool) {
			calls++
			if !found && !excepted(name, name+"."+of, name+"."+call) {
				t.Errorf("no example of %s calls %s", name, call)
			}
		}
		function := func(f string) {
			need(f, f, slices.ContainsFunc(examples, func(e example) bool { return e.calls[doc.Name+"."+f] }))
		}
		for _, f := range doc.Funcs {
			function(f.Name)
		}
		for _, typ := range doc.Types {
			for _, f := range typ.Funcs {
				function(f.Name)
			}
			for _, m := range typ.Methods {
				if isCall(doc, m.Decl.Type) {
					need(typ.Name, typ.Name+"."+m.Name, slices.ContainsFunc(examples, func(e example) bool {
						of, _, _ := strings.Cut(e.name, "_")
						return of == typ.Name && e.calls["."+m.Name]
					}))
				}
			}
		}
	}
	for key, why := range noExample {
		if !used[key] {
			t.Errorf("%s needs no exception any more (%s)", key, why)
		}
	}
	if public < 15 || calls < 80 {
		t.Errorf("only %d packages with %d calls found: are they still read correctly?", public, calls)
	}
}

// example is an example that go test runs.
type example struct {
	name  string          // without the word Example
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
	var examples []example
	for _, e := range doc.Examples(tests...) {
		if e.Output == "" && !e.EmptyOutput {
			continue // go test only compiles it
		}
		x := example{name: e.Name, calls: map[string]bool{}}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				x.calls["."+s.Sel.Name] = true
				if of, ok := s.X.(*ast.Ident); ok {
					x.calls[of.Name+"."+s.Sel.Name] = true
				}
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

// isCall reports whether a method does something: it takes a context or a test, or returns a new object of its package.
func isCall(p *doc.Package, method *ast.FuncType) bool {
	if len(method.Params.List) > 0 {
		if s, ok := method.Params.List[0].Type.(*ast.SelectorExpr); ok && regexp.MustCompile(`^(Context|T|TB|F)$`).MatchString(s.Sel.Name) {
			return true
		}
	}
	if method.Results == nil {
		return false
	}
	return slices.ContainsFunc(method.Results.List, func(f *ast.Field) bool {
		of, ok := f.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		name, ok := of.X.(*ast.Ident)
		return ok && slices.ContainsFunc(p.Types, func(t *doc.Type) bool { return t.Name == name.Name })
	})
}
