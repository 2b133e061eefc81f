package fence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that refuses old tokens. It contains only the value, so other programs can read it at any time. It
// is a [Register].
//
// Two more files are beside it. Path.fence contains the marks. Path.fence.lock is locked (flock) during each access.
// Never delete these files while the resource is in use: without Path.fence, old tokens are accepted again. A write
// creates Path.fence.next and Path.fence.value, and then renames them.
//
// An access writes the marks before the value. It writes each file under another name, calls fsync, and then renames
// it. So a crash leaves the old value or the new one, and never a new value with old marks.
//
// All processes must run on one machine, or use a file system whose flock also excludes other machines. If a process
// is stopped during an access, which takes some milliseconds, the other processes wait until it continues or is
// killed. Their calls end when their contexts end.
type File struct {
	// Path is the path of the value. It must not be a symbolic link, because a rename would replace the link and not
	// its target. It must not end as a file beside another resource does, for example in .fence.
	Path string

	// Perm is the mode of new files. If the file with the value exists, it keeps its mode. Defaults to 0600.
	Perm fs.FileMode

	// NoSync omits fsync. After a power failure the marks may then be older than the value. Use it for tests, or for
	// data that a power failure may destroy. Defaults to false.
	NoSync bool
}

var _ Register = File{}

// Read implements [Register.Read].
func (f File) Read(ctx context.Context, t Token) ([]byte, error) {
	value, err := f.access(ctx, t, nil, false)
	return value, wrap("read", f.Path, err)
}

// Write implements [Register.Write].
func (f File) Write(ctx context.Context, t Token, value []byte) error {
	_, err := f.access(ctx, t, value, true)
	return wrap("write", f.Path, err)
}

// Peek returns the value and the marks. It uses no token, so it changes nothing. It is for people and tests; a holder
// calls Read.
func (f File) Peek(ctx context.Context) (value []byte, m Marks, err error) {
	unlock, err := f.lock(ctx)
	if err == nil {
		defer unlock()
		m, err = f.marks()
	}
	if err == nil {
		value, err = f.value()
	}
	return value, m, wrap("peek", f.Path, err)
}

func (f File) access(ctx context.Context, t Token, value []byte, write bool) ([]byte, error) {
	if err := checkAccess(t, write); err != nil {
		return nil, err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	seen, err := f.marks()
	if err != nil {
		return nil, err
	}
	next, err := seen.Admit(f.Path, t)
	if err != nil {
		return nil, err
	}
	if next != seen { // before the value: a crash must not leave a new value under old marks
		if err := f.replace(f.marksPath(), f.marksPath()+".next", fmt.Appendf(nil, "%d %d\n", next.Writer, next.Reader)); err != nil {
			return nil, err
		}
	}
	if write {
		return nil, f.replace(f.Path, f.marksPath()+".value", value)
	}
	return f.value()
}

func (f File) marksPath() string { return f.Path + ".fence" }

func (f File) marks() (m Marks, err error) {
	text, err := os.ReadFile(f.marksPath())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	var end string
	n, _ := fmt.Sscanf(string(text), "%d %d%s", &m.Writer, &m.Reader, &end)
	if n != 2 || m.Writer < 0 || m.Reader < 0 {
		return m, fmt.Errorf("%s has %.40q; want two numbers, the highest tokens of writers and of readers", f.marksPath(), text)
	}
	return m, nil
}

func (f File) value() ([]byte, error) {
	value, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return value, err
}

// replace writes a new file under the temporary name through, and renames it to path. The temporary name is always
// the same: only the owner of the lock calls replace, and a crash then leaves one such file at most.
func (f File) replace(path, through string, content []byte) error {
	if err := os.Remove(through); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a crash, perhaps with another mode
		return err
	}
	next, err := os.OpenFile(through, os.O_CREATE|os.O_EXCL|os.O_WRONLY, cmp.Or(f.Perm, 0o600))
	if err != nil {
		return err
	}
	if info, serr := os.Stat(path); serr == nil { // keep the mode of the old file; the umask is for new files only
		err = next.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = next.Write(content)
	}
	if err == nil && !f.NoSync {
		err = next.Sync()
	}
	if err = errors.Join(err, next.Close()); err != nil {
		// Remove the incomplete file. On a full disk it would take the space that the next access needs for its
		// marks.
		return errors.Join(err, os.Remove(through))
	}
	if err := os.Rename(next.Name(), path); err != nil || f.NoSync {
		return err
	}
	dir, err := os.Open(filepath.Dir(path)) // fsync of the folder makes the rename durable
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ownEnds are the ends of the names of the files beside a resource.
var ownEnds = []string{".fence", ".fence.lock", ".fence.next", ".fence.value"}

// lock gets the lock of the file. It returns an error if ctx ends first.
func (f File) lock(ctx context.Context) (unlock func(), err error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if f.Path == "" {
		return nil, fmt.Errorf("%w: Path is empty", ErrBadName)
	}
	for _, end := range ownEnds { // a write to the marks of another resource would make it accept old tokens
		if strings.HasSuffix(f.Path, end) {
			return nil, fmt.Errorf("%w: it ends in %q, as a file beside another resource does; use another path", ErrBadName, end)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if info, err := os.Lstat(f.Path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: it is a symbolic link, which has marks of its own; use the path to which it leads", ErrBadName)
	}
	unlock, err = await(ctx, f.marksPath()+".lock", cmp.Or(f.Perm, 0o600)|0o600) // each access opens it for writing
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("wait for %s.lock: %w", f.marksPath(), err)
	}
	return unlock, err
}
