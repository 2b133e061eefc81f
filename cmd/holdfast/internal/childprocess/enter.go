//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanEnter returns nil if a command of the user can have dir as its folder. Without this check the error of [Start] would
// blame the program. For another user it starts a shell there, because only the system knows all rights of that user.
func CanEnter(dir string, u *User) error {
	who, err := "this user", error(nil)
	if u == nil {
		err = unix.Access(dir, unix.X_OK)
	} else {
		who = fmt.Sprintf("user %q", u.Name)
		probe := exec.Command("/bin/sh", "-c", ":")
		probe.Dir, probe.SysProcAttr = dir, &syscall.SysProcAttr{}
		u.set(probe.SysProcAttr)
		err = probe.Run()
	}
	var errno syscall.Errno
	var exit *exec.ExitError
	switch {
	case err == nil, errors.As(err, &exit): // the shell began
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not enter %s", who, dir)
	case errors.As(err, &errno):
		return fmt.Errorf("%s cannot enter %s: %w", who, dir, errno)
	}
	return fmt.Errorf("%s cannot enter %s: %w", who, dir, err)
}
