//go:build unix

package childprocess

import (
	"os"
	"strings"
	"testing"
)

// A folder that the user of a command may not enter is found before the start, and named. Without root only the own user can
// be tried, and root may enter every folder.
func TestAFolderThatAUserMayNotEnter(t *testing.T) {
	t.Parallel()
	var u *User
	who, open := "this user", t.TempDir()
	if os.Geteuid() == 0 {
		var err error
		if u, err = LookUpUser("nobody"); err != nil {
			t.Fatal(err)
		}
		who, open = `user "nobody"`, "/"
	}
	if err := CanEnter(t.Context(), open, u); err != nil {
		t.Errorf("an open folder: %v", err)
	}
	shut := t.TempDir()
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(shut, 0o700) }()
	if err := CanEnter(t.Context(), shut, u); err == nil || err.Error() != who+" may not enter "+shut {
		t.Errorf("a folder without rights: %v", err)
	}
	if err := CanEnter(t.Context(), "/nowhere", u); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no folder: %v", err)
	}
}
