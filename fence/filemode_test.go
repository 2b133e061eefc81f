package fence_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// Other programs read the file as usual. So a write keeps the mode of a file that exists.
func TestAWriteKeepsTheModeOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if err := (fence.File{Path: path}).Write(context.Background(), fence.Token{Fence: 7}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o664 {
		t.Errorf("the mode was 0664 and is %o, %v", info.Mode().Perm(), err)
	}
}
