//go:build unix

package childprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// outputOf runs a line of shell and returns its output.
func outputOf(t *testing.T, line, dir string, u *User) string {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	u.Own(w)
	c, err := Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", line}, Env: os.Environ(), Dir: dir, User: u, Stdin: null, Stdout: w, Stderr: os.Stderr, Report: t.Logf,
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	<-c.Exited()
	c.Finish()
	if err != nil || c.Exit().Code() != 0 {
		t.Errorf("%s: exit code %d, %v", line, c.Exit().Code(), err)
	}
	return strings.TrimSpace(string(out))
}

func TestACommandBeginsInItsFolder(t *testing.T) {
	t.Parallel()
	if got := outputOf(t, "pwd", "/", nil); got != "/" {
		t.Errorf("the command began in %s", got)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c, err := Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", "true"}, Dir: "/nowhere", Stdin: null, Stdout: os.Stdout, Stderr: os.Stderr, Report: t.Logf})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v, %v", c, err)
	}
}

// A command runs with the ids and groups of its user, and can open its own output. Without root only the own user can be
// named.
func TestACommandRunsAsItsUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if _, err := LookUpUser("root"); err == nil || !strings.Contains(err.Error(), "only root can run commands as another user") {
			t.Errorf("root is %v without being root", err)
		}
		return
	}
	u, err := LookUpUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d %d", u.credential.Uid, u.credential.Gid)
	if got := outputOf(t, `echo "$(id -u) $(id -g)" >/dev/stdout`, "/", u); got != want {
		t.Errorf("the command ran as %q, want %q", got, want)
	}
	if got := outputOf(t, "id -G", "/", u); strings.Contains(" "+got+" ", " 0 ") {
		t.Errorf("the command has the groups %s, among them that of root", got)
	}
	if u, err := LookUpUser("root"); u != nil || err != nil {
		t.Errorf("the own user: %v, %v", u, err)
	}
	if _, err := LookUpUser("nobody-like-this"); !errors.Is(err, ErrUnknownUser) {
		t.Errorf("a user that does not exist: %v", err)
	}
}
