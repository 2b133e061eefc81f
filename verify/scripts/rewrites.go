package scripts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// A script must not delete a key and write the same key again. If the hash slot is being moved, Redis Cluster refuses each
// command of a script that names a missing key. Redis rolls nothing back, so the key is lost: a renewal has then ended its
// own lease.

// rewrites returns the writes of keys that a whole script has deleted before. It follows each path through the script, and
// each call of a function that the script declares. It does not know the values of conditions, and goes through the body
// of a loop once more after its end. Two keys are the same if their expressions are, after each variable is replaced by
// its first value.
func rewrites(name, text string) ([]string, error) {
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &rewriter{found: map[string]bool{}}
	r.block(chunk, &scope{vars: map[string]meaning{}}, deleted{})
	return slices.Sorted(maps.Keys(r.found)), nil
}

// meaning is the first value of a variable: a function, or the text of an expression.
type meaning struct {
	function *ast.FunctionExpr
	in       *scope // where the function was declared
	text     string
}

type scope struct {
	vars map[string]meaning
	out  *scope
}

func (s *scope) inner() *scope { return &scope{map[string]meaning{}, s} }

func (s *scope) find(name string) (meaning, *scope) {
	for at := s; at != nil; at = at.out {
		if m, ok := at.vars[name]; ok {
			return m, at
		}
	}
	return meaning{text: name}, nil
}

// deleted contains the keys that were deleted on some path, with the line.
type deleted map[string]int

func (d deleted) and(o deleted) deleted {
	all := maps.Clone(d)
	maps.Copy(all, o)
	return all
}

// writes contains the commands that the scripts use to write. They do not delete.
var writes = map[string]bool{
	"SET": true, "SETRANGE": true, "APPEND": true, "INCR": true, "HSET": true, "ZADD": true, "PEXPIRE": true, "PEXPIREAT": true,
}

type rewriter struct {
	found   map[string]bool
	calls   []*ast.FunctionExpr // that are being followed
	fresh   int
	returns []deleted // the state at each return of the present function
}

// block returns the state after the statements, and whether the end can be reached.
func (r *rewriter) block(list []ast.Stmt, s *scope, d deleted) (deleted, bool) {
	for _, one := range list {
		var on bool
		if d, on = r.statement(one, s, d); !on {
			return d, false
		}
	}
	return d, true
}

func (r *rewriter) loop(body []ast.Stmt, s *scope, d deleted) deleted {
	for range 2 {
		after, on := r.block(body, s.inner(), d)
		if on {
			d = d.and(after)
		}
	}
	return d
}

func (r *rewriter) statement(one ast.Stmt, s *scope, d deleted) (deleted, bool) {
	switch one := one.(type) {
	case *ast.LocalAssignStmt:
		if len(one.Exprs) == 1 {
			if f, is := one.Exprs[0].(*ast.FunctionExpr); is {
				s.vars[one.Names[0]] = meaning{function: f, in: s}
				return d, true
			}
		}
		d = r.exprs(one.Exprs, s, d)
		all := make([]meaning, len(one.Names))
		for i := range one.Names {
			all[i] = r.unknown()
			if i < len(one.Exprs) {
				all[i] = r.mean(one.Exprs[i], s)
			}
		}
		for i, name := range one.Names {
			s.vars[name] = all[i]
		}
	case *ast.AssignStmt:
		d = r.exprs(one.Rhs, s, d)
		for i, to := range one.Lhs {
			name, plain := to.(*ast.IdentExpr)
			if !plain || i >= len(one.Rhs) {
				continue
			}
			if m, at := s.find(name.Value); at != nil {
				if _, function := one.Rhs[i].(*ast.FunctionExpr); function || strings.HasPrefix(m.text, "?") || m.text == "nil" {
					at.vars[name.Value] = r.mean(one.Rhs[i], s)
				}
			}
		}
	case *ast.FuncCallStmt:
		return r.expr(one.Expr, s, d), true
	case *ast.DoBlockStmt:
		return r.block(one.Stmts, s.inner(), d)
	case *ast.WhileStmt:
		return r.loop(one.Stmts, s, r.expr(one.Condition, s, d)), true
	case *ast.RepeatStmt:
		return r.loop(one.Stmts, s, d), true
	case *ast.NumberForStmt:
		return r.loop(one.Stmts, s, d), true
	case *ast.GenericForStmt:
		return r.loop(one.Stmts, s, r.exprs(one.Exprs, s, d)), true
	case *ast.IfStmt:
		d = r.expr(one.Condition, s, d)
		then, on := r.block(one.Then, s.inner(), d)
		or, on2 := r.block(one.Else, s.inner(), d)
		switch {
		case on && on2:
			return then.and(or), true
		case on:
			return then, true
		}
		return or, on2
	case *ast.ReturnStmt:
		r.returns = append(r.returns, r.exprs(one.Exprs, s, d))
		return d, false
	case *ast.BreakStmt: // the loop ends, or goes on: see loop
		return d, true
	default:
		panic(fmt.Sprintf("line %d: a statement %T, which this check does not know", one.Line(), one))
	}
	return d, true
}

func (r *rewriter) exprs(all []ast.Expr, s *scope, d deleted) deleted {
	for _, e := range all {
		d = r.expr(e, s, d)
	}
	return d
}

func (r *rewriter) expr(e ast.Expr, s *scope, d deleted) deleted {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		d = r.exprs(e.Args, s, d)
		return r.call(e, s, d)
	case *ast.AttrGetExpr:
		return r.expr(e.Key, s, r.expr(e.Object, s, d))
	case *ast.TableExpr:
		for _, f := range e.Fields {
			d = r.expr(f.Value, s, d)
		}
	case *ast.LogicalOpExpr: // the second operand may not be used
		d = r.expr(e.Lhs, s, d)
		return d.and(r.expr(e.Rhs, s, d))
	case *ast.RelationalOpExpr:
		return r.expr(e.Rhs, s, r.expr(e.Lhs, s, d))
	case *ast.StringConcatOpExpr:
		return r.expr(e.Rhs, s, r.expr(e.Lhs, s, d))
	case *ast.ArithmeticOpExpr:
		return r.expr(e.Rhs, s, r.expr(e.Lhs, s, d))
	case *ast.UnaryNotOpExpr:
		return r.expr(e.Expr, s, d)
	case *ast.UnaryMinusOpExpr:
		return r.expr(e.Expr, s, d)
	case *ast.UnaryLenOpExpr:
		return r.expr(e.Expr, s, d)
	}
	return d
}

// call follows a call. A command may name several keys only if it deletes them.
func (r *rewriter) call(e *ast.FuncCallExpr, s *scope, d deleted) deleted {
	f, args := r.mean(e.Func, s), e.Args
	if f.text == "pcall" && len(args) > 0 { // the function of Lua
		f, args = r.mean(args[0], s), args[1:]
	}
	if f.text == "redis.call" || f.text == "redis.pcall" {
		command, keys := strings.Trim(r.mean(args[0], s).text, "'"), args[1:]
		dels := command == "DEL" || command == "UNLINK" || command == "GETDEL" || command == "RENAME"
		if !dels && len(keys) > 0 {
			keys = keys[:1]
		}
		after := maps.Clone(d)
		for _, k := range keys {
			key := r.mean(k, s).text
			if at, is := d[key]; is && !dels && writes[command] {
				r.found[fmt.Sprintf("line %d: %s writes %s, which line %d may have deleted", e.Line(), command, key, at)] = true
			}
			// A hash without fields does not exist. The hash of readers always has the field seen.
			if key != "nil" && dels || command == "HDEL" && !strings.HasSuffix(key, "':readers'") {
				after[key] = e.Line()
			}
		}
		return after
	}
	if f.function == nil || slices.Contains(r.calls, f.function) {
		return d
	}
	in := f.in.inner()
	for i, name := range f.function.ParList.Names {
		in.vars[name] = r.unknown()
		if i < len(args) {
			in.vars[name] = r.mean(args[i], s)
		}
	}
	outer := r.returns
	r.calls, r.returns = append(r.calls, f.function), nil
	after, on := r.block(f.function.Stmts, in, d)
	if !on {
		after = maps.Clone(d)
	}
	for _, one := range r.returns {
		after = after.and(one)
	}
	r.calls, r.returns = r.calls[:len(r.calls)-1], outer
	return after
}

// unknown returns a value that is equal to no other.
func (r *rewriter) unknown() meaning {
	r.fresh++
	return meaning{text: fmt.Sprintf("?%d", r.fresh)}
}

// mean returns the meaning of an expression.
func (r *rewriter) mean(e ast.Expr, s *scope) meaning {
	switch e := e.(type) {
	case *ast.IdentExpr:
		m, _ := s.find(e.Value)
		return m
	case *ast.StringExpr:
		return meaning{text: "'" + e.Value + "'"}
	case *ast.NumberExpr:
		return meaning{text: e.Value}
	case *ast.NilExpr:
		return meaning{text: "nil"}
	case *ast.FunctionExpr:
		return meaning{function: e, in: s}
	case *ast.AttrGetExpr:
		key := r.mean(e.Key, s).text
		if r.mean(e.Object, s).text == "redis" {
			return meaning{text: "redis." + strings.Trim(key, "'")}
		}
		return meaning{text: r.mean(e.Object, s).text + "[" + key + "]"}
	case *ast.StringConcatOpExpr:
		return meaning{text: r.mean(e.Lhs, s).text + ".." + r.mean(e.Rhs, s).text}
	case *ast.FuncCallExpr:
		var args []string
		for _, a := range e.Args {
			args = append(args, r.mean(a, s).text)
		}
		f := r.mean(e.Func, s)
		if f.function != nil && len(f.function.Stmts) == 1 { // such as keyof
			f.text = fmt.Sprintf("function %d", f.function.Line())
		} else if f.text == "" || f.text == "redis.call" || f.text == "redis.pcall" {
			return r.unknown()
		}
		return meaning{text: f.text + "(" + strings.Join(args, ",") + ")"}
	}
	return r.unknown()
}
