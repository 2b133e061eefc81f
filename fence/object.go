package fence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

var (
	// ErrNoObject means that the store has no object with this key.
	ErrNoObject = errors.New("there is no such object")

	// ErrConflict means that the condition of [Objects.Put] was false.
	ErrConflict = errors.New("the object has changed")
)

// Objects is an object store with conditional writes, such as S3 and compatible stores, GCS or Azure. Check an
// implementation with [ProbeObjects], because some stores accept a condition and then ignore it.
type Objects interface {
	// Get returns the body of an object and its tag (ETag). The error matches [ErrNoObject] if there is no object.
	// Get must see each Put that returned before Get was called.
	Get(ctx context.Context, key string) (body []byte, tag string, err error)

	// Put writes an object if its tag is still match (If-Match). If match is "", Put writes only if there is no
	// object (If-None-Match: *). The error matches [ErrConflict] if the condition is false. That is the status 412,
	// and for S3 also 409 and 404. Two different bodies must have different tags.
	Put(ctx context.Context, key string, body []byte, match string) error
}

// Object is an object in an object store that refuses old tokens. It is a [Register].
//
// The body begins with a line that has the marks. The value follows: see [ParseObject]. The marks are not in the
// metadata, because the ETag of S3 depends only on the body. If only the marks changed, the ETag would stay the same,
// and a conditional write of an old holder would succeed.
type Object struct {
	Store Objects // required
	Key   string  // UTF-8 without NUL, from 1 to 512 bytes
}

var _ Register = Object{}

// tries is the largest number of conditional writes of one access. A failed write usually means that another access
// succeeded. So only a store that wrongly refuses true conditions needs so many tries.
const tries = 1000

// Read implements [Register.Read]. If the token raises a mark, Read writes the object.
func (o Object) Read(ctx context.Context, t Token) ([]byte, error) {
	value, err := o.access(ctx, t, nil, false)
	return value, wrap("read", o.Key, err)
}

// Write implements [Register.Write].
func (o Object) Write(ctx context.Context, t Token, value []byte) error {
	_, err := o.access(ctx, t, value, true)
	return wrap("write", o.Key, err)
}

func (o Object) access(ctx context.Context, t Token, value []byte, write bool) ([]byte, error) {
	if err := checkAccess(t, write); err != nil {
		return nil, err
	}
	if err := checkName(o.Key); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if o.Store == nil {
		return nil, errors.New("no store: the field Store is nil; give it an implementation of Objects")
	}
	for try := range tries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		body, tag, err := o.Store.Get(ctx, o.Key)
		fresh := errors.Is(err, ErrNoObject)
		if err != nil && !fresh {
			return nil, err
		}
		var seen Marks
		var found []byte
		switch {
		case fresh:
			tag = ""
		case tag == "":
			return nil, errors.New("the store returned an object without a tag, so no condition is possible")
		default:
			if seen, found, err = ParseObject(body); err != nil {
				return nil, err
			}
		}
		next, err := seen.Admit(o.Key, t)
		if err != nil {
			return nil, err
		}
		if !write {
			value = found
			if next == seen {
				return value, nil
			}
		}
		err = o.Store.Put(ctx, o.Key, object(next, value), tag)
		if err == nil || !errors.Is(err, ErrConflict) {
			return value, err
		}
		pause(ctx, try)
	}
	return nil, fmt.Errorf("%d conditional writes failed: %w", tries, ErrConflict)
}

// pause waits for a random time that grows with each try, up to 8 ms.
func pause(ctx context.Context, try int) {
	timer := time.NewTimer(rand.N(time.Millisecond << min(try, 3)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// object returns the body for these marks and this value.
func object(m Marks, value []byte) []byte {
	return append(fmt.Appendf(nil, "fence %d %d\n", m.Writer, m.Reader), value...)
}

// ParseObject splits the body of an object into its marks and its value. Programs that read without a token need it.
func ParseObject(body []byte) (m Marks, value []byte, err error) {
	line, value, ok := bytes.Cut(body, []byte("\n"))
	if ok && len(line) <= 64 {
		_, err = fmt.Sscanf(string(line), "fence %d %d", &m.Writer, &m.Reader)
	}
	if !ok || err != nil || !bytes.HasPrefix(body, object(m, nil)) || m.Writer < 0 || m.Reader < 0 {
		return Marks{}, nil, fmt.Errorf("the object begins with %.40q and not with its marks: was it written without package fence?", line)
	}
	return m, value, nil
}
