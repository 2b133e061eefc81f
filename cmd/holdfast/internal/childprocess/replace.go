//go:build unix

package childprocess

import (
	"fmt"
	"syscall"
)

// Replace replaces this program by another one in the same process. It returns only if this fails.
func Replace(path string, args, env []string) error {
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, env))
}
