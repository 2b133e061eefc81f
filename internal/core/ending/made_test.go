package ending

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A context that these functions make ends only when a goroutine has run.
	late = regexp.MustCompile(`^With(Cancel|Deadline|Timeout)(Cause)?$`)

	// These are the variables of the code whose Context is not that of a lease.
	others = []string{"r", "cmd", "t", "tb"}

	// These folders contain no part of the lock.
	apart = []string{"examples", "verify"}

	// This function puts a Checked around the context that it makes.
	checked = "handle.go: context.WithCancelCause(held)"
)

// Work under a lock gets a context whose Err looks at the clock. So no code of the lock makes one with
// context.WithCancel or context.WithTimeout from the context of a lease: it uses Work.
func TestNoContextOfALeaseIsWrapped(t *testing.T) {
	const root = "../../.."
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() && (slices.Contains(apart, name) || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		wraps, err := wrapped(path, nil)
		for _, w := range wraps {
			found = append(found, name+": "+w)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, []string{checked}) {
		t.Errorf("wrapped contexts: %q; want only %q. Use ending.Work, or job.Func.Until in another module", found, checked)
	}
}

// The search itself finds each form.
func TestWrappedContextsAreFound(t *testing.T) {
	const code = `package p
	func f() {
		a, b := context.WithCancelCause(lease.Context())
		ctx := context.WithValue(l.ownContext(), key{}, 1)
		c, d := context.WithTimeout(ctx, time.Second)
		work, end := ending.Work(ctx, lease.Context())
		e, f := context.WithDeadlineCause(work, at, err)
		g, h := context.WithCancel(r.Context())
		i, j := context.WithCancel(context.WithoutCancel(lease.Context()))
		k := context.WithValue(work, key{}, 1)
	}
	func g(ctx, work context.Context) { a, b := context.WithCancel(work) }`
	want := []string{"context.WithCancelCause(lease.Context)", "context.WithTimeout(ctx)", "context.WithDeadlineCause(work)"}
	if got, err := wrapped("p.go", code); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// wrapped returns the calls of a file that make a late context from the context of a lease or of work.
func wrapped(path string, code any) (calls []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, code, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		leases := map[string]bool{} // the variables of the function that have such a context
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Rhs) == 1 {
					leases[id.Name] = ofLease(n.Rhs[0], leases)
				}
			case *ast.CallExpr:
				if pkg, f := called(n); pkg == "context" && late.MatchString(f) && ofLease(n.Args[0], leases) {
					calls = append(calls, "context."+f+"("+text(n.Args[0])+")")
				}
			}
			return true
		})
	}
	return calls, nil
}

// ofLease reports whether an expression is the context of a lease, or of work, or has only more values than that.
func ofLease(e ast.Expr, leases map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return leases[e.Name]
	case *ast.CallExpr:
		switch pkg, f := called(e); {
		case pkg == "ending" && f == "Work":
			return true
		case pkg == "context" && f == "WithValue":
			return ofLease(e.Args[0], leases)
		case f == "Context" || f == "ownContext":
			return len(e.Args) == 0 && !slices.Contains(others, pkg)
		}
	}
	return false
}

// called returns the name of a called function or method, and the last name before it.
func called(c *ast.CallExpr) (before, name string) {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	words := strings.Split(text(s.X), ".")
	return words[len(words)-1], s.Sel.Name
}

// text returns an expression of names and calls without arguments.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return text(e.Fun)
	}
	return ""
}
