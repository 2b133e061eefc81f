package fence_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// The temporary file of one resource is not the file of another one.
func TestATemporaryFileIsNoOtherResource(t *testing.T) {
	dir := t.TempDir()
	other := fence.File{Path: filepath.Join(dir, "report.next")}
	if err := other.Write(context.Background(), fence.Token{Fence: 7}, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := (fence.File{Path: filepath.Join(dir, "report")}).Write(context.Background(), fence.Token{Fence: 7}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if value, err := other.Read(context.Background(), fence.Token{Fence: 7}); string(value) != "mine" {
		t.Errorf("a write of report changes report.next to %q, %v", value, err)
	}
}
