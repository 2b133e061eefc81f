//go:build unix

package childprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/parentdeath"
)

// CanEnter returns nil if a command of the user can have dir as its folder. For another user it starts a process that
// goes there, because only the system knows all rights of that user. If ctx ends first, it ends the process and returns
// the cause of ctx. But it returns only after the process has ended, and even KILL may not end a process that waits for
// a file server. For the user of this process it makes a system call, which nothing can end.
func CanEnter(ctx context.Context, dir string, u *User) error {
	who, err := "this user", error(nil)
	if u == nil {
		err = unix.Access(dir, unix.X_OK)
	} else {
		who, err = fmt.Sprintf("user %q", u.Name), enter(ctx, dir, u)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not enter %s", who, dir)
	}
	return fmt.Errorf("%s cannot enter %s: %w", who, dir, err)
}

// enter starts a starter that goes to dir as the user, and ends it.
func enter(ctx context.Context, dir string, u *User) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	runtime.LockOSThread() // see Child.live
	defer runtime.UnlockOSThread()
	attr := &syscall.SysProcAttr{Setpgid: true}
	parentdeath.Signal(attr, syscall.SIGKILL)
	u.set(attr)
	// The process becomes no command, and may not see the variables of this process.
	s, pid, err := startStarter(Command{
		Path: "/", Args: []string{"/"}, Env: []string{}, Dir: dir, User: u, Stdin: null, Stdout: null, Stderr: null,
	}, attr)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.verdicts.Close() })
	line, _ := bufio.NewReader(s.verdicts).ReadString('\n')
	stop()
	s.close()
	_ = syscall.Kill(pid, syscall.SIGKILL)
	var status syscall.WaitStatus
	for _, err = syscall.Wait4(pid, &status, 0, nil); errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	number, outside := strings.CutPrefix(line, "chdir ")
	switch {
	case line == "ready\n":
		return nil
	case outside:
		return errnoOf(number)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("the process that tries it ended with %d", Exit{Status: status.ExitStatus(), Signal: status.Signal()}.Code())
}
