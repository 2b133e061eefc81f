package fencetest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// clone is an object store that is compatible with S3 but for a flaw.
type clone struct {
	Objects
	flaw string
}

const (
	ignoresMatch = "ignores If-Match"
	ignoresNone  = "ignores If-None-Match"
	constantTags = "has one tag for all bodies"
	noTags       = "has no tags"
	checksFirst  = "checks the condition before it writes"
	lateReads    = "reads what was there before"
)

func (c *clone) Get(ctx context.Context, key string) ([]byte, string, error) {
	body, tag, err := c.Objects.Get(ctx, key)
	for range 20 {
		runtime.Gosched() // as a round trip between Get and Put
	}
	switch {
	case err != nil:
	case c.flaw == constantTags:
		tag = "0"
	case c.flaw == noTags:
		tag = ""
	case c.flaw == lateReads:
		body = []byte("an older body")
	}
	return body, tag, err
}

func (c *clone) Put(ctx context.Context, key string, body []byte, match string) error {
	_, now, err := c.Objects.Get(ctx, key)
	exists := err == nil
	switch {
	case c.flaw == ignoresNone && match == "" && exists, c.flaw == ignoresMatch && match != "" && exists:
		match = now
	case c.flaw == constantTags && exists && match == "0":
		match = now
	case c.flaw == checksFirst && exists && match == now:
		for range 20 {
			runtime.Gosched() // another write may come here, and is overwritten
		}
		for range 50 {
			err := c.Objects.Put(ctx, key, body, now)
			if !errors.Is(err, fence.ErrConflict) {
				return err
			}
			_, now, _ = c.Objects.Get(ctx, key)
		}
	}
	return c.Objects.Put(ctx, key, body, match)
}

func TestTheProbeFindsStoresThatIgnoreConditions(t *testing.T) {
	t.Parallel()
	if err := fence.ProbeObjects(t.Context(), &Objects{}, "probe"); err != nil {
		t.Errorf("a sound store: %v", err)
	}
	for flaw, want := range map[string]string{
		ignoresMatch: "the store ignores a condition: it wrote with If-Match with a tag of the past",
		ignoresNone:  "the store ignores a condition: it wrote with If-None-Match: *, although the object exists",
		constantTags: "two bodies have the same tag 0",
		noTags:       "the object has no tag",
		lateReads:    "a read after a write returned another body",
	} {
		err := fence.ProbeObjects(t.Context(), &clone{flaw: flaw}, "probe")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a store that %s: %v\nwant %q", flaw, err, want)
		}
	}
	if err := fence.ProbeObjects(t.Context(), &Objects{}, ""); !errors.Is(err, fence.ErrBadName) {
		t.Errorf("a probe without a key: %v", err)
	}
}

// A race is found by trying.
func TestTheProbeFindsConditionsThatAreCheckedFirst(t *testing.T) {
	t.Parallel()
	store := &clone{flaw: checksFirst}
	for range 1000 {
		if err := fence.ProbeObjects(t.Context(), store, "probe"); err != nil {
			if want := "more than one succeeded"; !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
			return
		}
	}
	t.Error("1,000 probes found nothing")
}

// A probe can be made again with the same key.
func TestAProbeMayBeRepeated(t *testing.T) {
	t.Parallel()
	store := &Objects{}
	for range 3 {
		if err := fence.ProbeObjects(t.Context(), store, "probe"); err != nil {
			t.Fatal(err)
		}
	}
}

// A register on a store that ignores its conditions is not fenced, and the suite says so.
func TestTheSuiteFindsObjectsWithoutConditions(t *testing.T) {
	t.Parallel()
	store := &clone{flaw: ignoresMatch}
	err := Check(t.Context(), func(_ context.Context, name string) (fence.Register, error) {
		return fence.Object{Store: store, Key: name}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "NothingComesBetweenCompareAndWrite: ") {
		t.Errorf("a store that ignores If-Match: %v", err)
	}
}
