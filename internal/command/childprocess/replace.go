//go:build unix

package childprocess

import (
	"fmt"
	"syscall"
)

// Replace makes this process run another program. It returns only if that fails.
func Replace(path string, args, env []string) error {
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, env))
}
