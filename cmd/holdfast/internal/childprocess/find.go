package childprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotFound means that the command or its interpreter does not exist. ErrNotExecutable means that the command exists
// but cannot be executed. Shells exit with 127 and 126 in these cases.
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("cannot be executed")
)

// Find returns the path of a command as a shell finds it. Errors match [ErrNotFound] or [ErrNotExecutable].
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		// ErrDot means that the command is in the current directory, and PATH contains that directory. Shells run such
		// a command.
		return path, nil
	case errors.Is(err, exec.ErrNotFound) && !strings.ContainsRune(name, os.PathSeparator):
		// LookPath skips files that may not be executed. A shell reports such a file differently from a missing file.
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				return "", fmt.Errorf("%s: %w: no execute permission", filepath.Join(dir, name), ErrNotExecutable)
			}
		}
	}
	return "", startError(name, err)
}

// startError returns an error that matches ErrNotFound or ErrNotExecutable, depending on err.
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
