//go:build unix

package childprocess

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// hangs is chdir in the starters of tests. It does not return for a folder called hung, as if a file server did not
// answer.
func hangs(dir string) error {
	if filepath.Base(dir) != "hung" {
		return syscall.Chdir(dir)
	}
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return err
	}
	_, err := syscall.Read(p[0], make([]byte, 1))
	return err
}

// starterIn returns the process that hangs at the folder.
func starterIn(t *testing.T, dir string) (pid int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Log("no /proc here: the starter cannot be found, so it may not hang yet")
		return 0
	}
	redistest.Eventually(t, patience, "the starter is there", func() bool { pid = starterOf(dir); return pid != 0 })
	return pid
}

var errEnough = errors.New("enough")

// While a folder hangs, other commands start, and the look at the folder ends with its context.
func TestALookAtAFolderThatHangsStopsNothingElse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hung")
	ctx, cancel := context.WithCancelCause(t.Context())
	looked := make(chan error, 1)
	go func() { looked <- enter(ctx, dir, nil) }()
	pid := starterIn(t, dir)
	if got := outputOf(t, "echo other", "", nil); got != "other" {
		t.Errorf("another command said %q", got)
	}
	cancel(errEnough)
	select {
	case err := <-looked:
		if !errors.Is(err, errEnough) {
			t.Errorf("the look ended with %v, want %v", err, errEnough)
		}
	case <-time.After(patience):
		t.Fatal("the look does not end")
	}
	if pid != 0 && runs(pid) {
		t.Errorf("process %d still hangs there", pid)
	}
}

// A start in a folder that hangs ends with its context, even while its lock is renewed.
func TestAStartInAFolderThatHangsEnds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hung")
	for name, until := range map[string]func() time.Time{"with a lock": func() time.Time { return time.Now().Add(time.Hour) }, "without a lock": nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		started := make(chan error, 1)
		go func() {
			_, err := Start(Command{
				Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Env: os.Environ(), Dir: dir, Within: ctx, Stderr: os.Stderr, Until: until, Report: t.Logf,
			})
			started <- err
		}()
		pid := starterIn(t, dir)
		cancel(errEnough)
		select {
		case err := <-started:
			if !errors.Is(err, errEnough) {
				t.Errorf("%s: the start ended with %v, want %v", name, err, errEnough)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the start does not end", name)
		}
		if pid != 0 && runs(pid) {
			t.Errorf("%s: process %d still hangs there", name, pid)
		}
	}
}

// No process is started in a folder: the system call would go there before the process is its program, and a folder that
// hangs would then stop this whole process. Only a file system that hangs could show that, so this reads the sources.
func TestNoProcessIsStartedInAFolder(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		all := token.NewFileSet()
		file, err := parser.ParseFile(all, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if at := folderOf(n); at.IsValid() {
				t.Errorf("%s: a process starts in a folder; let it go there itself, as a starter does", all.Position(at))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were read: %v", files, err)
	}
	for source, want := range map[string]bool{
		`syscall.ProcAttr{Dir: "/"}`: true, `os.ProcAttr{Dir: "/"}`: true, `exec.Cmd{Dir: d}`: true, `func() { c.Dir = "/" }`: true,
		`Command{Dir: "/"}`: false, `exec.Cmd{Path: "/"}`: false,
	} {
		n, err := parser.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(n, func(n ast.Node) bool { found = found || folderOf(n).IsValid(); return true })
		if found != want {
			t.Errorf("%s starts a process in a folder: %t, want %t", source, found, want)
		}
	}
}

// folderOf returns the place at which a process gets a folder by the system call that starts it.
func folderOf(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.CompositeLit:
		kind, _ := n.Type.(*ast.SelectorExpr)
		if kind == nil || kind.Sel.Name != "ProcAttr" && kind.Sel.Name != "Cmd" {
			break
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Dir" {
					return kv.Pos()
				}
			}
		}
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			if field, ok := to.(*ast.SelectorExpr); ok && field.Sel.Name == "Dir" {
				return n.Pos()
			}
		}
	}
	return token.NoPos
}
