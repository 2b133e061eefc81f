//go:build linux

package chaos

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestLostAndOldWritesAreFound(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	ctx := context.Background()
	o, g := register{c, open_}, register{c, guarded}
	// Both clients read before either writes, so the open register loses the first write.
	for _, r := range []register{o, g} {
		tokens := map[string]int64{"a": 0, "b": 0}
		if r == g {
			tokens = map[string]int64{"a": 7, "b": 8}
		}
		before := map[string]string{}
		for _, e := range []string{"a", "b"} {
			last, err := r.read(ctx, "x", tokens[e])
			if err != nil {
				t.Fatal(err)
			}
			before[e] = last
		}
		if err := r.write(ctx, "x", tokens["b"], "b", before["b"]); err != nil {
			t.Fatal(err)
		}
		err := r.write(ctx, "x", tokens["a"], "a", before["a"])
		in, lerr := r.list(ctx, "x")
		if lerr != nil {
			t.Fatal(lerr)
		}
		switch {
		case r == g && (!errors.Is(err, errOldToken) || !in["b"]):
			t.Errorf("guarded: the older token's write: %v; the list is %v", err, in)
		case r == o && (err != nil || in["b"] || !in["a"]):
			t.Errorf("open: %v; the list is %v, want b lost", err, in)
		}
	}
}

func TestACounterTellsOfEachUpdateIfItWasLost(t *testing.T) {
	for name, c := range map[string]struct {
		writes []string // pairs: an element, and the element that its writer had read
		want   []string
	}{
		"nothing":                    {nil, nil},
		"one after the other":        {[]string{"a", "b a", "c b"}, []string{"a", "b", "c"}},
		"one over another":           {[]string{"a", "b a", "c a"}, []string{"a", "c"}},
		"two from nothing":           {[]string{"a", "b"}, []string{"b"}},
		"one that makes up for it":   {[]string{"a", "b a", "c a", "d c", "e d"}, []string{"a", "c", "d", "e"}},
		"an old one over many later": {[]string{"a", "b a", "c b", "d c", "e a"}, []string{"a", "e"}},
	} {
		f, was := newCounterFile(t.TempDir(), "x"), map[string]count{}
		for i, w := range c.writes {
			element, read, _ := strings.Cut(w, " ")
			if err := f.write(0, element, was[read]); err != nil {
				t.Fatal(err)
			}
			now, err := f.read(0)
			if err != nil {
				t.Fatal(err)
			}
			was[element] = now
			if now.last != element {
				t.Errorf("%s: after write %d by %s it says %s", name, i, element, now.last)
			}
		}
		// The writer of this note was killed before it wrote to the resource.
		if err := f.note("killed", ""); err != nil {
			t.Fatal(err)
		}
		in, err := f.list()
		if got := slices.Sorted(maps.Keys(in)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: the number is made of %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestACounterRefusesAnOldToken(t *testing.T) {
	f := newCounterFile(t.TempDir(), "x")
	if err := f.write(8, "a", count{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read(7); !errors.Is(err, errOldToken) {
		t.Errorf("an older token reads: %v", err)
	}
	if err := f.write(7, "b", count{}); !errors.Is(err, errOldToken) {
		t.Errorf("an older token writes: %v", err)
	}
	if in, err := f.list(); len(in) != 1 || !in["a"] || err != nil {
		t.Errorf("the number is made of %v, %v", in, err)
	}
}
