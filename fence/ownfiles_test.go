package fence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// The files beside a resource are no resources themselves. A write to its marks would make it accept old tokens.
func TestTheFilesOfAResourceAreNoResources(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	report := fence.File{Path: filepath.Join(dir, "report")}
	if err := report.Write(ctx, fence.Token{Fence: 7}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{".fence", ".fence.lock", ".fence.next", ".fence.value"} {
		own := fence.File{Path: report.Path + end}
		if err := own.Write(ctx, fence.Token{Fence: 1}, []byte("0 0\n")); !errors.Is(err, fence.ErrBadName) {
			t.Errorf("a write to report%s: %v, want ErrBadName", end, err)
		}
		if _, err := own.Read(ctx, fence.Token{Fence: 1}); !errors.Is(err, fence.ErrBadName) {
			t.Errorf("a read of report%s: %v, want ErrBadName", end, err)
		}
	}
	if err := report.Write(ctx, fence.Token{Fence: 3}, []byte("old")); !errors.Is(err, fence.ErrStale) {
		value, _ := os.ReadFile(report.Path)
		t.Errorf("token 3 after token 7: %v, want ErrStale; the value is %q", err, value)
	}
}
