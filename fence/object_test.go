package fence_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/fencetest"
)

func TestAnObjectIsReadableWithoutAToken(t *testing.T) {
	t.Parallel()
	store := &fencetest.Objects{}
	o := fence.Object{Store: store, Key: "state"}
	if err := o.Write(t.Context(), writer(7), []byte("value\nof two lines")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Read(t.Context(), reader(9)); err != nil {
		t.Fatal(err)
	}
	body, _, err := store.Get(t.Context(), "state")
	if err != nil {
		t.Fatal(err)
	}
	marks, value, err := fence.ParseObject(body)
	if marks != (fence.Marks{Writer: 7, Reader: 9}) || string(value) != "value\nof two lines" || err != nil {
		t.Errorf("%+v, %q, %v", marks, value, err)
	}
}

func TestABodyWithoutMarksIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "\n", "x", "fence", "fence 1 2", "fence 1\nx", "fence 1 2 3\nx", "fence -1 2\nx", "fence 01 2\nx", "fence  1 2\nx",
		"fence 1 99999999999999999999\nx", strings.Repeat("x", 100) + "\n", `{"fence": 1}` + "\n",
	} {
		if m, value, err := fence.ParseObject([]byte(body)); err == nil {
			t.Errorf("%.30q: %+v, %q", body, m, value)
		}
	}
	store := &fencetest.Objects{}
	if err := store.Put(t.Context(), "x", []byte("made by somebody else"), ""); err != nil {
		t.Fatal(err)
	}
	err := fence.Object{Store: store, Key: "x"}.Write(t.Context(), writer(9), nil)
	if err == nil || !strings.Contains(err.Error(), `begins with "made by somebody else" and not with its marks`) {
		t.Errorf("an object of somebody else: %v", err)
	}
}

func FuzzParseObject(f *testing.F) {
	for _, body := range []string{"fence 7 9\nvalue", "fence 0 0\n", "fence 1 2", "\n"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, value, err := fence.ParseObject(body)
		if err != nil {
			return
		}
		if m.Writer < 0 || m.Reader < 0 || !strings.HasSuffix(string(body), "\n"+string(value)) {
			t.Errorf("%q: %+v, %q", body, m, value)
		}
	})
}

// between calls a function after the first Get, as if another holder came before the Put.
type between struct {
	fencetest.Objects
	once  sync.Once
	comes func()
}

func (b *between) Get(ctx context.Context, key string) (body []byte, tag string, err error) {
	body, tag, err = b.Objects.Get(ctx, key)
	b.once.Do(b.comes)
	return body, tag, err
}

// A holder that comes between Get and Put makes the condition false. The access is then compared again.
func TestAHolderBetweenGetAndPutIsNoticed(t *testing.T) {
	t.Parallel()
	for _, first := range []fence.Token{writer(7), writer(9)} {
		store := &between{}
		o := fence.Object{Store: store, Key: "x"}
		if err := (fence.Object{Store: &store.Objects, Key: "x"}).Write(t.Context(), writer(5), []byte("five")); err != nil {
			t.Fatal(err)
		}
		store.comes = func() {
			if err := (fence.Object{Store: &store.Objects, Key: "x"}).Write(t.Context(), writer(8), []byte("eight")); err != nil {
				t.Error(err)
			}
		}
		err := o.Write(t.Context(), first, []byte("first"))
		if old := first.Fence < 8; errors.Is(err, fence.ErrStale) != old || !old && err != nil {
			t.Errorf("a write with %s, while one with token 8 came in between: %v", first, err)
		}
	}
}

// stubborn refuses each write.
type stubborn struct {
	fencetest.Objects
	err   error
	tried int
}

func (s *stubborn) Put(context.Context, string, []byte, string) error { s.tried++; return s.err }

func TestErrorsOfObjectStoresEndTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, errorsOfObjectStores) // it pauses a thousand times
}

func errorsOfObjectStores(t *testing.T) {
	for _, c := range []struct {
		err   error
		tried int
	}{{errors.New("access denied"), 1}, {fence.ErrConflict, 1000}} {
		store := &stubborn{err: c.err}
		err := fence.Object{Store: store, Key: "x"}.Write(t.Context(), writer(1), nil)
		if !errors.Is(err, c.err) || store.tried != c.tried {
			t.Errorf("%v after %d writes; want %v after %d", err, store.tried, c.err, c.tried)
		}
	}
	if err := (fence.Object{Key: "x"}).Write(t.Context(), writer(1), nil); err == nil || !strings.Contains(err.Error(), "the field Store is nil") {
		t.Errorf("no store: %v", err)
	}
	if err := (fence.Object{Store: &stubborn{}}).Write(t.Context(), writer(1), nil); !errors.Is(err, fence.ErrBadName) {
		t.Errorf("no key: %v", err)
	}
}
