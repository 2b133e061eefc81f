package fence_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// inNamespace is set in the process that may mount a file system of its own.
const inNamespace = "HOLDFAST_TEST_FULL_DISK"

// On a full disk a write fails, and the old value stays. Once there is space, the holder writes again, and an older
// holder is refused. The test mounts a small file system in a namespace of its own, which needs no rights on most
// machines.
func TestAFullDisk(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		switch said, err := cmd.CombinedOutput(); {
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSPC):
			t.Skipf("this machine allows no user namespaces (%v); run as root, or allow them: sysctl kernel.unprivileged_userns_clone=1", err)
		case err != nil || !strings.Contains(string(said), "--- PASS: TestAFullDisk"):
			t.Errorf("%v\n%s", err, said)
		}
		return
	}
	dir := t.TempDir()
	const size = 64 << 10
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	f := fence.File{Path: filepath.Join(dir, "state")}
	if err := f.Write(t.Context(), writer(5), []byte("five")); err != nil {
		t.Fatal(err)
	}
	full := func(err error) {
		t.Helper()
		if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), f.Path) {
			t.Errorf("on a full disk: %v; want ENOSPC with the path", err)
		}
	}
	holds := func(want string, mark int64) {
		t.Helper()
		value, marks, err := f.Peek(t.Context())
		if string(value) != want || marks.Writer != mark || err != nil {
			t.Errorf("the file has %.20q, %+v, %v; want %q and the mark %d", value, marks, err, want, mark)
		}
	}
	// The value does not fit. The marks do: they are written first.
	full(f.Write(t.Context(), writer(7), bytes.Repeat([]byte("7"), 2*size)))
	holds("five", 7)
	if err := f.Write(t.Context(), writer(6), []byte("six")); !errors.Is(err, fence.ErrStale) {
		t.Errorf("an older holder after a failed write: %v; want ErrStale", err)
	}
	// The failed write left nothing behind that takes space, so a smaller value fits.
	if err := f.Write(t.Context(), writer(8), []byte("eight")); err != nil {
		t.Errorf("a small value after a large one that did not fit: %v", err)
	}
	holds("eight", 8)
	// Nothing fits, not even the marks. The holder that is known still reads.
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, bytes.Repeat([]byte("x"), 2*size), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	full(f.Write(t.Context(), writer(9), []byte("nine")))
	holds("eight", 8)
	if value, err := f.Read(t.Context(), writer(8)); string(value) != "eight" || err != nil {
		t.Errorf("a read on a full disk: %q, %v", value, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(t.Context(), writer(9), []byte("nine")); err != nil {
		t.Errorf("with space again: %v", err)
	}
	holds("nine", 9)
	left, err := filepath.Glob(f.Path + "*")
	if err != nil || len(left) != 3 {
		t.Errorf("the files are %q, %v; want the value, the marks and the lock", left, err)
	}
}
