package fence

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// The kernel's lock call does not end when a context ends, and blocks a thread. So only one goroutine of this process
// waits in the kernel for a path. The other goroutines wait here for their turn, in the order in which they came.
//
// The other way would be to try the kernel's lock again and again without blocking. On a busy file the lock is free
// only for short moments, and some callers would hardly ever get it.

// turns has the turn of each path that this process uses now.
var turns struct {
	sync.Mutex
	of map[string]*turn
}

// turn is the right of one goroutine to ask the kernel for the lock of a path.
type turn struct {
	path  string
	users int           // goroutines that have the turn or wait for it
	free  chan struct{} // contains an element while no goroutine has the turn
}

// await locks the file path against other goroutines and processes. It returns an error if ctx ends first.
func await(ctx context.Context, path string, perm fs.FileMode) (unlock func(), err error) {
	t := enter(path)
	select {
	case <-t.free:
	case <-ctx.Done():
		t.leave()
		return nil, context.Cause(ctx)
	}
	type locked struct {
		file *os.File
		err  error
	}
	done := make(chan locked, 1)
	go func() {
		file, err := lockFile(path, perm)
		done <- locked{file, err}
	}()
	pass := func(l locked) {
		if l.file != nil {
			_ = l.file.Close() // closing the file ends its lock
		}
		t.free <- struct{}{}
		t.leave()
	}
	select {
	case l := <-done:
		if l.err != nil {
			pass(l)
			return nil, l.err
		}
		return func() { pass(l) }, nil
	case <-ctx.Done():
		// The kernel call still waits. Pass the turn on when it returns. Another goroutine could not get the lock
		// earlier.
		go func() { pass(<-done) }()
		return nil, context.Cause(ctx)
	}
}

func enter(path string) *turn {
	turns.Lock()
	defer turns.Unlock()
	t := turns.of[path]
	if t == nil {
		t = &turn{path: path, free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if turns.of == nil {
			turns.of = map[string]*turn{}
		}
		turns.of[path] = t
	}
	t.users++
	return t
}

func (t *turn) leave() {
	turns.Lock()
	defer turns.Unlock()
	if t.users--; t.users == 0 {
		delete(turns.of, t.path)
	}
}

// lockFile opens the file and locks it.
func lockFile(path string, perm fs.FileMode) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, perm)
		if err != nil {
			return nil, err
		}
		err = flock(file)
		var mine, there fs.FileInfo
		if err == nil {
			mine, err = file.Stat()
		}
		if err == nil {
			there, err = os.Stat(path)
		}
		if err == nil && os.SameFile(mine, there) {
			return file, nil
		}
		// Somebody deleted the file in the meantime. This lock then excludes nobody, because others lock the new
		// file. So try again.
		if err = errors.Join(err, file.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}
