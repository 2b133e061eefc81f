package scripts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// provided contains the variables that Redis gives to a script.
var provided = []string{
	"redis", "string", "math", "table", "cjson", "KEYS", "ARGV", "tonumber", "tostring", "type", "ipairs", "pairs", "error", "pcall",
	"next", "select", "unpack",
}

// variables are the names through which a text is connected with the text around it.
type variables struct {
	reads    []string // it reads or calls them, and did not declare them
	sets     []string // it sets them, and did not declare them
	declares []string // it declares them outside of all blocks, so the text after it can use them
}

// connections returns the variables of a Lua text.
func connections(name, text string) (variables, error) {
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return variables{}, fmt.Errorf("%s: %w", name, err)
	}
	w := &walk{reads: map[string]bool{}, sets: map[string]bool{}}
	w.open()
	w.block(chunk)
	return variables{sorted(w.reads), sorted(w.sets), sorted(w.scopes[0])}, nil
}

func sorted(set map[string]bool) (all []string) {
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// walk goes through a text. Each scope contains the local variables that are declared so far.
type walk struct {
	scopes      []map[string]bool
	reads, sets map[string]bool
}

func (w *walk) open()  { w.scopes = append(w.scopes, map[string]bool{}) }
func (w *walk) close() { w.scopes = w.scopes[:len(w.scopes)-1] }

func (w *walk) declare(names ...string) {
	for _, name := range names {
		w.scopes[len(w.scopes)-1][name] = true
	}
}

// free reports whether the host or nobody declares a variable.
func (w *walk) free(name string) bool {
	return !slices.Contains(provided, name) && !slices.ContainsFunc(w.scopes, func(s map[string]bool) bool { return s[name] })
}

// inner goes through statements with a scope of their own, in which names are declared.
func (w *walk) inner(statements []ast.Stmt, names ...string) {
	w.open()
	w.declare(names...)
	w.block(statements)
	w.close()
}

func (w *walk) block(statements []ast.Stmt) {
	for _, s := range statements {
		w.statement(s)
	}
}

func (w *walk) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.LocalAssignStmt:
		if len(s.Exprs) == 1 {
			if _, function := s.Exprs[0].(*ast.FunctionExpr); function {
				w.declare(s.Names...) // a local function may call itself
			}
		}
		w.exprs(s.Exprs...)
		w.declare(s.Names...)
	case *ast.AssignStmt:
		w.exprs(s.Rhs...)
		for _, to := range s.Lhs {
			if name, plain := to.(*ast.IdentExpr); !plain {
				w.exprs(to)
			} else if w.free(name.Value) {
				w.sets[name.Value] = true
			}
		}
	case *ast.FuncCallStmt:
		w.exprs(s.Expr)
	case *ast.DoBlockStmt:
		w.inner(s.Stmts)
	case *ast.WhileStmt:
		w.exprs(s.Condition)
		w.inner(s.Stmts)
	case *ast.RepeatStmt: // the condition sees the variables of the block
		w.open()
		w.block(s.Stmts)
		w.exprs(s.Condition)
		w.close()
	case *ast.IfStmt:
		w.exprs(s.Condition)
		w.inner(s.Then)
		w.inner(s.Else)
	case *ast.NumberForStmt:
		w.exprs(s.Init, s.Limit, s.Step)
		w.inner(s.Stmts, s.Name)
	case *ast.GenericForStmt:
		w.exprs(s.Exprs...)
		w.inner(s.Stmts, s.Names...)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs...)
	case *ast.BreakStmt:
	default:
		panic(fmt.Sprintf("line %d: a statement %T, which this check does not know", s.Line(), s))
	}
}

func (w *walk) exprs(all ...ast.Expr) {
	for _, e := range all {
		w.expr(e)
	}
}

func (w *walk) expr(e ast.Expr) {
	switch e := e.(type) {
	case nil, *ast.NumberExpr, *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.NilExpr, *ast.Comma3Expr:
	case *ast.IdentExpr:
		if w.free(e.Value) {
			w.reads[e.Value] = true
		}
	case *ast.AttrGetExpr:
		w.exprs(e.Object, e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			w.exprs(f.Key, f.Value)
		}
	case *ast.FuncCallExpr:
		w.exprs(e.Func, e.Receiver)
		w.exprs(e.Args...)
	case *ast.FunctionExpr:
		w.inner(e.Stmts, e.ParList.Names...)
	case *ast.LogicalOpExpr:
		w.exprs(e.Lhs, e.Rhs)
	case *ast.RelationalOpExpr:
		w.exprs(e.Lhs, e.Rhs)
	case *ast.StringConcatOpExpr:
		w.exprs(e.Lhs, e.Rhs)
	case *ast.ArithmeticOpExpr:
		w.exprs(e.Lhs, e.Rhs)
	case *ast.UnaryMinusOpExpr:
		w.exprs(e.Expr)
	case *ast.UnaryNotOpExpr:
		w.exprs(e.Expr)
	case *ast.UnaryLenOpExpr:
		w.exprs(e.Expr)
	default:
		panic(fmt.Sprintf("line %d: an expression %T, which this check does not know", e.Line(), e))
	}
}
