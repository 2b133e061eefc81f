//go:build linux || darwin || freebsd || openbsd || netbsd

package fence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/fence"
)

// take locks a file as a process does that is stopped during an access.
func take(t *testing.T, f fence.File) *os.File {
	t.Helper()
	lock, err := os.Create(f.Path + ".fence.lock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return lock
}

// Others wait for a stopped holder no longer than their contexts allow, and get the lock when it goes on.
func TestALockedFileCostsNoMoreThanTheContext(t *testing.T) {
	t.Parallel()
	f := fence.File{Path: filepath.Join(t.TempDir(), "state")}
	lock := take(t, f)
	impatient := errors.New("impatient")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, impatient)
	defer cancel()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := f.Write(ctx, writer(9), []byte("in vain")); !errors.Is(err, impatient) {
				t.Errorf("a write while another process has the lock: %v; want the cause of the context", err)
			}
		})
	}
	wg.Wait()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	// A call that ended left nothing that writes later, and no lock.
	if err := f.Write(t.Context(), writer(1), []byte("one")); err != nil {
		t.Errorf("a write after the lock is free: %v", err)
	}
	if value, err := f.Read(t.Context(), writer(1)); string(value) != "one" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}

// If somebody deleted the lock's file, a lock on the deleted file excludes nobody.
func TestADeletedLockFileIsMadeAnew(t *testing.T) {
	t.Parallel()
	f := fence.File{Path: filepath.Join(t.TempDir(), "state")}
	if err := os.Remove(take(t, f).Name()); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(t.Context(), writer(1), nil); err != nil {
		t.Error(err)
	}
}
