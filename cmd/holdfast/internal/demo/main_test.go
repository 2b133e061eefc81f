package demo

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// The test binary is also the demo itself, because a test kills the demo.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "demo" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
		err := perform(ctx, os.Args[2], os.Stdout, false)
		stop()
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

// command builds the holdfast program for nodes and workers, without the race detector. Thirteen processes with the
// detector need more than two cores, and the lock's window is real time.
var command = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "demo-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "holdfast")
	out, err := exec.Command("go", "build", "-o", path, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	buildDir = dir
	return path, nil
})

var buildDir string // "" until the directory exists

func program(t *testing.T) string {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatalf("build holdfast: %v\n%s", err, path)
	}
	return path
}
