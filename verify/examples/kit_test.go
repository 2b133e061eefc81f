package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/holdfast-go/holdfast/holdfasttest"
)

var bin string // the directory of the program holdfast

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "holdfast-examples-"); err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "holdfast"), "./cmd/holdfast")
	build.Dir, build.Stderr = "../..", os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

// nodes returns the environment of a process that uses three embedded nodes, by a file of nodes.
func nodes(t *testing.T) []string {
	t.Helper()
	return nodesFile(t, holdfasttest.Start(t, 3).URLs())
}

func nodesFile(t *testing.T, urls []string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nodes")
	if err := os.WriteFile(file, []byte(strings.Join(urls, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOLDFAST_NODES_FILE=" + file}
	for _, v := range []string{"HOME", "TMPDIR"} {
		env = append(env, v+"="+os.Getenv(v))
	}
	return env
}

// run runs a command, and returns its output and its exit code.
func run(t *testing.T, directory string, env []string, command ...string) (stdout string, code int) {
	t.Helper()
	path := command[0]
	if path == "holdfast" {
		path = filepath.Join(bin, path)
	}
	cmd := exec.CommandContext(t.Context(), path, command[1:]...)
	cmd.Dir, cmd.Env = directory, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Errorf("%q: %v", command, err)
	}
	if errs.Len() > 0 {
		t.Logf("%q: %s", command, errs.String())
	}
	return out.String(), code
}

// documents reads all documents of a YAML file. A key that comes twice is an error.
func documents(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for d := yaml.NewDecoder(file); ; {
		var one map[string]any
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, one)
	}
}

// at returns the value at a path of keys and indices. A path that does not exist fails the test.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for i, key := range path {
		ok := false
		switch in := v.(type) {
		case map[string]any:
			v, ok = in[fmt.Sprint(key)]
		case []any:
			if n, isIndex := key.(int); isIndex && n < len(in) {
				v, ok = in[n], true
			}
		}
		if !ok {
			t.Fatalf("there is no %v", path[:i+1])
		}
	}
	return v
}

// words returns a list of YAML as texts.
func words(t *testing.T, v any) (list []string) {
	t.Helper()
	for _, w := range v.([]any) {
		list = append(list, fmt.Sprint(w))
	}
	return list
}

// instead returns a command of holdfast with another program behind the --.
func instead(t *testing.T, command []string, program ...string) []string {
	t.Helper()
	for i, w := range command {
		if w == "--" {
			return append(command[:i+1:i+1], program...)
		}
	}
	t.Fatalf("%q has no --", command)
	return nil
}
