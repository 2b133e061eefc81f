package fence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// A path that is a symbolic link has marks of its own, and a write replaces the link. So it is refused.
func TestALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "report"), filepath.Join(dir, "link")
	if err := (fence.File{Path: path}).Write(context.Background(), fence.Token{Fence: 7}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("report", link); err != nil {
		t.Fatal(err)
	}
	if value, err := (fence.File{Path: link}).Read(context.Background(), fence.Token{Fence: 3}); err == nil {
		t.Errorf("token 3 reads %q after token 7 through a link", value)
	}
	if err := (fence.File{Path: link}).Write(context.Background(), fence.Token{Fence: 3}, []byte("old")); err == nil {
		info, err := os.Lstat(link)
		t.Errorf("token 3 writes after token 7 through a link; the link is now %v, %v", info.Mode(), errors.Join(err))
	}
}
