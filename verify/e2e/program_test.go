package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program builds the command at the first call. TestMain removes it.
var program = sync.OnceValues(func() (path string, err error) {
	dir, err := os.MkdirTemp("", "holdfast-")
	if err != nil {
		return "", err
	}
	programDir = dir
	path = filepath.Join(dir, "holdfast")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/holdfast-go/holdfast/cmd/holdfast").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build holdfast: %w\n%s", err, out)
	}
	return path, nil
})

var programDir string

// command returns the path of the command.
func command(t testing.TB) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Error(err) // this may be another goroutine than that of the test
	}
	return path
}
