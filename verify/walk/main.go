// Command walk counts the functions of Holdfast through which an uncontended Lock and Unlock go, and their files.
//
//	go run ./verify/walk              one node
//	go run ./verify/walk -nodes 3 -v  three nodes, with all functions
//
// A function that runs in less than half of the cycles belongs to work in the background, and does not count. Neither
// do the embedded nodes.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/holdfast-go/holdfast"

// cycles is the number of cycles that are counted.
const cycles = 1000

func main() {
	nodes := flag.Int("nodes", 1, "the number of `nodes`")
	verbose := flag.Bool("v", false, "print every function")
	flag.Parse()
	if err := run(*nodes, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

// walked is a function, and how often a cycle calls it.
type walked struct {
	file, name string
	calls      float64
}

func run(nodes int, verbose bool) error {
	dir, err := os.MkdirTemp("", "walk-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, profile := filepath.Join(dir, "cycle"), filepath.Join(dir, "profile")
	of := strings.Join([]string{module, module + "/internal/...", module + "/node/...", module + "/verify/walk/cycle"}, ",") // the last one: the counters of a program without its main package cannot be written
	for _, args := range [][]string{
		{"go", "build", "-cover", "-covermode=atomic", "-coverpkg=" + of, "-o", program, module + "/verify/walk/cycle"},
		{program, dir, fmt.Sprint(nodes), fmt.Sprint(cycles)},
		{"go", "tool", "covdata", "textfmt", "-i=" + dir, "-o=" + profile},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GOCOVERDIR="+os.DevNull) // at its end the program would write all counters again
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	all, err := functions(text)
	if err != nil {
		return err
	}
	report(all, nodes, verbose)
	return nil
}

// functions returns the functions of a profile that belong to a cycle. The count of a function is that of its first
// statement.
func functions(profile []byte) (all []walked, err error) {
	counts := map[string]map[string]float64{} // by file, then by "line.column" of the beginning of a block
	for s := bufio.NewScanner(bytes.NewReader(profile)); s.Scan(); {
		var from, rest string
		file, rest, ok := strings.Cut(s.Text(), ":")
		if !ok || file == "mode" || strings.Contains(file, "/verify/") {
			continue
		}
		var statements int
		var count float64
		from, rest, _ = strings.Cut(rest, ",")
		if _, err := fmt.Sscanf(rest[strings.Index(rest, " ")+1:], "%d %g", &statements, &count); err != nil {
			return nil, err
		}
		if counts[file] == nil {
			counts[file] = map[string]float64{}
		}
		counts[file][from] += count
	}
	where := map[string]string{} // folders by package
	for file, blocks := range counts {
		pkg := path.Dir(file)
		if where[pkg] == "" {
			out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
			if err != nil {
				return nil, err
			}
			where[pkg] = strings.TrimSpace(string(out))
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(where[pkg], path.Base(file)), nil, 0)
		if err != nil {
			return nil, err
		}
		add := func(name string, body *ast.BlockStmt) {
			at := fset.Position(body.Lbrace)
			for _, column := range []int{at.Column, at.Column + 1} { // Go 1.25 and earlier begin the block at the brace
				if n := blocks[fmt.Sprintf("%d.%d", at.Line, column)] / cycles; n > 0.5 {
					all = append(all, walked{strings.TrimPrefix(file, module+"/"), name, n})
					return
				}
			}
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			add(fn.Name.Name, fn.Body)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if inner, ok := n.(*ast.FuncLit); ok {
					add(fn.Name.Name+" (inner)", inner.Body)
				}
				return true
			})
		}
	}
	return all, nil
}

func report(all []walked, nodes int, verbose bool) {
	calls, files, packages := 0.0, map[string]bool{}, map[string]bool{}
	slices.SortFunc(all, func(a, b walked) int {
		return cmp.Or(cmp.Compare(path.Dir(a.file), path.Dir(b.file)), cmp.Compare(a.file, b.file), cmp.Compare(b.calls, a.calls))
	})
	for _, w := range all {
		calls += w.calls
		files[w.file], packages[path.Dir(w.file)] = true, true
		if verbose {
			fmt.Printf("%6.1f  %s %s\n", w.calls, w.file, w.name)
		}
	}
	fmt.Printf("a Lock and its Unlock, %d node(s): %.0f calls of %d functions in %d files of %d packages\n", nodes, calls, len(all), len(files), len(packages))
}
