package fence

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// A call that waits in the kernel for a file's lock does not end with a context, and blocks a thread. So one goroutine
// of this process at a time waits there for one path. The others wait for their turn, in the order in which they came.
// To ask the kernel again and again instead starves a caller: on a busy file the lock is free for an instant only.

// turns has the turn of each path that this process uses at the moment.
var turns struct {
	sync.Mutex
	of map[string]*turn
}

// turn is the right of one goroutine to lock a path.
type turn struct {
	path  string
	users int           // goroutines that have the turn or wait for it
	free  chan struct{} // has an element while nobody has the turn
}

// await locks the file of this path against other goroutines and processes, unless ctx ends first.
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
			_ = l.file.Close() // the end of the file ends its lock
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
		// The turn passes on when the kernel answers. Until then another goroutine could not get the lock either.
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

// lockFile opens and locks a file.
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
		// If somebody deleted the file meanwhile, this lock excludes nobody, and the next one counts.
		if err = errors.Join(err, file.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}
