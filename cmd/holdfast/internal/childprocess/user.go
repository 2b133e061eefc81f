//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// User is a user of this machine as which a command runs. A nil User is that of this process.
type User struct {
	Name, Home string
	credential syscall.Credential
}

// ErrUnknownUser means that this machine has no such user.
var ErrUnknownUser = errors.New("this machine has no such user")

// LookUpUser returns the user with a name, and its groups. It returns nil for the user of this process. The error matches
// [ErrUnknownUser], or is that of [MayBecome].
func LookUpUser(name string) (*User, error) {
	u, err := user.Lookup(name)
	var unknown user.UnknownUserError
	switch {
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("user %q: %w", name, ErrUnknownUser)
	case err != nil:
		return nil, fmt.Errorf("user %q: %w", name, err)
	case u.Uid == strconv.Itoa(os.Geteuid()):
		return nil, nil
	}
	if err := MayBecome(name); err != nil {
		return nil, err
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("user %q: its groups: %w", name, err)
	}
	var ids []uint32
	for _, id := range append([]string{u.Uid, u.Gid}, groups...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %q: its id or a group of it is %q; want a number", name, id)
		}
		ids = append(ids, uint32(n))
	}
	return &User{Name: u.Username, Home: u.HomeDir, credential: syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]}}, nil
}

// MayBecome returns an error if this process cannot run a command as the user with this name. The error is nil if this
// machine has no such user.
func MayBecome(name string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	if u, err := user.Lookup(name); err == nil && u.Uid == strconv.Itoa(os.Geteuid()) {
		return nil
	}
	return fmt.Errorf("user is %q, but holdfast runs as user id %d; only root can run commands as another user", name, os.Geteuid())
}

// set makes a process begin as the user.
func (u *User) set(attr *syscall.SysProcAttr) {
	if u != nil {
		attr.Credential = &u.credential
	}
}

// Own makes the files those of the user, so that a command can open /dev/stdout and /dev/stderr. An error is ignored:
// the command can still write to the files.
func (u *User) Own(files ...*os.File) {
	if u == nil {
		return
	}
	for _, f := range files {
		_ = f.Chown(int(u.credential.Uid), int(u.credential.Gid))
	}
}
