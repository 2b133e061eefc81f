package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotFound: there is no such command, or no such interpreter as it asks for.
// ErrNotExecutable: there is, but it cannot be run. Shells exit with 127 and 126.
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("cannot be executed")
)

// Find returns the path of a command as a shell would find it, or an error that
// matches [ErrNotFound] or [ErrNotExecutable].
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		// ErrDot: PATH names the current directory. Shells run it; whoever has such
		// a PATH asked for it.
		return path, nil
	case errors.Is(err, exec.ErrNotFound) && !strings.ContainsRune(name, os.PathSeparator):
		// LookPath skips files in PATH that lack the x bit. A shell tells them apart.
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				return "", fmt.Errorf("%s: %w: no execute permission", filepath.Join(dir, name), ErrNotExecutable)
			}
		}
	}
	return "", startError(name, err)
}

// startError tells the two ways apart in which a command cannot be started.
func startError(name string, err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return fmt.Errorf("%s: %w: %w", name, ErrNotExecutable, err)
}
