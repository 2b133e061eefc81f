package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfast-go/holdfast"

const lockOnly = `package main

import (
	"context"
	"log"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func main() {
	nodes, err := rueidisnode.Open("redis://127.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_ = client.Mutex("x").Do(context.Background(), func(context.Context) error { return nil })
}
`

// A program with one lock requires the library, a driver, the Redis client of the driver and golang.org/x/sys. It gets
// no terminal library, no Redis in Go, and no parser of cron expressions. The modules that only the client itself
// requires are the client's own matter.
func TestAProgramWithALockRequiresNothingElse(t *testing.T) {
	t.Parallel()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(lockOnly), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) []string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	run := func(args ...string) []string { return command(append([]string{"go"}, args...)...) }
	run("mod", "init", "example.com/one")
	command(filepath.Join(root, "scripts", "replace.sh")) // as README.md says
	run("mod", "tidy")
	allowed := []string{module, module + "/node/rueidisnode", "github.com/redis/rueidis", "golang.org/x/sys", "go", "toolchain"}
	edges := 0
	for _, edge := range run("mod", "graph") {
		from, to, _ := strings.Cut(edge, " ")
		path, _, _ := strings.Cut(to, "@")
		if !strings.HasPrefix(from, module) && !strings.HasPrefix(from, "example.com/one") {
			continue
		}
		edges++
		if !slices.Contains(allowed, path) {
			t.Errorf("a program with one lock gets %s, which %s requires", path, from)
		}
	}
	if edges < 4 {
		t.Errorf("only %d requirements found: is the graph still read correctly?", edges)
	}
	linked := run("list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	slices.Sort(linked)
	linked = slices.DeleteFunc(slices.Compact(linked), func(s string) bool { return s == "" })
	want := []string{"example.com/one", "github.com/redis/rueidis", module, module + "/node/rueidisnode", "golang.org/x/sys"}
	slices.Sort(want)
	if !slices.Equal(linked, want) {
		t.Errorf("the program contains %q; want %q", linked, want)
	}
}
