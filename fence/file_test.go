package fence_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
)

func TestFilesAreFenced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fencetest.Run(t, func(_ context.Context, name string) (fence.Register, error) {
		path := filepath.Join(dir, strings.NewReplacer("/", "_", "_", "__").Replace(name))
		return fence.File{Path: path, NoSync: true}, nil
	})
}

func TestAFileHasTheValueAlone(t *testing.T) {
	t.Parallel()
	f := fence.File{Path: filepath.Join(t.TempDir(), "state.json"), Perm: 0o640}
	if err := f.Write(t.Context(), writer(7), []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(t.Context(), reader(9)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Path)
	if err != nil || string(text) != "{}\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	value, marks, err := f.Peek(t.Context())
	if string(value) != "{}\n" || marks != (fence.Marks{Writer: 7, Reader: 9}) || err != nil {
		t.Errorf("a look finds %q, %+v, %v", value, marks, err)
	}
	left, err := filepath.Glob(f.Path + "*")
	if err != nil || len(left) != 3 {
		t.Errorf("the files are %q, %v; want the value, the marks and the lock", left, err)
	}
}

// A file that other programs made has no marks yet.
func TestAFileThatExistedIsTakenOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	value, err := fence.File{Path: path}.Read(t.Context(), writer(1))
	if string(value) != "old" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}

// A crash between the two renames leaves new marks and the old value. The reverse would let an old holder overwrite the
// new value. A folder in the way of the value makes the second rename fail.
func TestMarksAreWrittenBeforeTheValue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	f := fence.File{Path: path}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(t.Context(), writer(9), []byte("nine")); err == nil || errors.Is(err, fence.ErrStale) {
		t.Fatalf("a write of a folder: %v", err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(t.Context(), writer(8), []byte("eight")); !errors.Is(err, fence.ErrStale) {
		t.Errorf("after a write that failed half-way, an older one: %v; want ErrStale", err)
	}
}

func TestErrorsOfFilesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := (fence.File{}).Write(t.Context(), writer(1), nil); !errors.Is(err, fence.ErrBadName) {
		t.Errorf("no path: %v", err)
	}
	if _, err := (fence.File{Path: filepath.Join(dir, "none", "x")}).Read(t.Context(), writer(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for _, text := range []string{"", "x", "5\n", "-1 5\n", "5 6 7\n", "99999999999999999999 1\n"} {
		f := fence.File{Path: filepath.Join(dir, "broken")}
		if err := os.WriteFile(f.Path+".fence", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := f.Write(t.Context(), writer(1<<40), nil)
		if err == nil || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "want two numbers") {
			t.Errorf("marks %q: %v", text, err)
		}
	}
}

// A resource may be read-only for its owner. The lock file beside it stays writable, because each access opens it for
// writing.
func TestTheLockOfAReadOnlyResourceIsWritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f := fence.File{Path: path, Perm: 0o444}
	if err := f.Write(t.Context(), fence.Token{Fence: 1}, []byte("one")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o444, path + ".fence.lock": 0o644} {
		if s, err := os.Stat(name); err != nil || s.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, s.Mode(), err, want)
		}
	}
}
