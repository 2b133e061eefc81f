package fencetest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/fence"
)

// cell is a resource in memory. Its flaws make it a bad store.
type cell struct {
	mu    sync.Mutex
	marks fence.Marks
	value []byte
	flaw  string
}

const (
	sound         = ""
	ignores       = "ignores the token"
	twoSteps      = "compares before it writes"
	oneMark       = "has one mark"
	readersFree   = "does not compare readers"
	shyReaders    = "keeps no mark of readers"
	silentReads   = "keeps no mark of reads"
	strict        = "refuses the same token"
	rounds64      = "compares floats"
	refusalWrites = "refuses after it has written"
)

func (c *cell) access(ctx context.Context, t fence.Token, write bool, value []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.marks
	next, err := seen.Admit("cell", t)
	if errors.Is(err, fence.ErrBadToken) {
		return nil, err
	}
	if write && t.Mode == fence.Reader {
		return nil, fence.ErrReader
	}
	old := func() error { return &fence.StaleError{Resource: "cell", Token: t, Mark: writer(seen.Writer)} }
	switch c.flaw {
	case ignores:
		err = nil
	case oneMark:
		next, err = fence.Marks{Writer: t.Fence}, nil
		if t.Fence < seen.Writer {
			err = old()
		}
	case readersFree:
		if t.Mode == fence.Reader {
			next, err = seen, nil
			next.Reader = max(seen.Reader, t.Fence)
		}
	case shyReaders:
		next.Reader = 0
	case silentReads:
		if !write {
			next = seen
		}
	case strict:
		if t == writer(seen.Writer) {
			err = old()
		}
	case rounds64:
		if float64(t.Fence) == float64(seen.Writer) {
			err = nil
		}
	}
	if write && (err == nil || c.flaw == refusalWrites) {
		if c.flaw == twoSteps {
			c.mu.Unlock()
			for range 20 {
				runtime.Gosched() // as a round trip between the two steps
			}
			c.mu.Lock()
		}
		c.value = value
	}
	if err != nil {
		return nil, err
	}
	if c.flaw == twoSteps { // the marks themselves never fall
		next.Writer, next.Reader = max(next.Writer, c.marks.Writer), max(next.Reader, c.marks.Reader)
	}
	c.marks = next
	return c.value, nil
}

func (c *cell) Read(ctx context.Context, t fence.Token) ([]byte, error) {
	return c.access(ctx, t, false, nil)
}

func (c *cell) Write(ctx context.Context, t fence.Token, value []byte) error {
	_, err := c.access(ctx, t, true, value)
	return err
}

// memory returns a store in memory with a flaw.
func memory(flaw string) Open {
	var mu sync.Mutex
	cells := map[string]*cell{}
	return func(_ context.Context, name string) (fence.Register, error) {
		mu.Lock()
		defer mu.Unlock()
		if cells[name] == nil {
			cells[name] = &cell{flaw: flaw}
		}
		return cells[name], nil
	}
}

// A suite that finds nothing shows nothing. So each flaw must be found, by the check that is made for it.
func TestTheSuiteFindsBadStores(t *testing.T) {
	t.Parallel()
	if err := Check(t.Context(), memory(sound)); err != nil {
		t.Errorf("a sound store: %v", err)
	}
	for flaw, want := range map[string]string{
		ignores:       "AnOldWriterIsRefused: a write with token 4 of a writer succeeded, although it is old",
		twoSteps:      "NothingComesBetweenCompareAndWrite: round ",
		oneMark:       "ReadersStopNoReaders: a read with token 7 of a reader: ",
		readersFree:   "AWriterStopsOlderReaders: a read with token 7 of a reader succeeded, although it is old",
		shyReaders:    "AReaderStopsOlderWriters: a write with token 7 of a writer succeeded, although it is old",
		silentReads:   "ReadingShowsTheToken: a write with token 5 of a writer succeeded, although it is old",
		strict:        "ATokenIsGoodForManyCalls: ",
		rounds64:      "LargeTokensAreExact: ",
		refusalWrites: "AnOldWriterIsRefused: a read with token 5 of a writer returned ",
	} {
		t.Run(strings.ReplaceAll(flaw, " ", "_"), func(t *testing.T) {
			t.Parallel()
			err := Check(t.Context(), memory(flaw))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a store that %s: %v\nwant %q", flaw, err, want)
			}
		})
	}
}

// A store whose handles do not share their marks is fenced in one process only.
func TestTheSuiteFindsMarksThatAreNotShared(t *testing.T) {
	t.Parallel()
	err := Check(t.Context(), func(context.Context, string) (fence.Register, error) { return &cell{}, nil })
	if err == nil || !strings.Contains(err.Error(), "HandlesShareTheMarks: ") {
		t.Errorf("each handle has marks of its own: %v", err)
	}
}

func TestTheSuiteNamesAStoreThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such server")
	err := Check(t.Context(), func(context.Context, string) (fence.Register, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("%v; want the error of Open", err)
	}
}

func TestObjectsInMemoryAreFenced(t *testing.T) {
	t.Parallel()
	store := &Objects{}
	Run(t, func(_ context.Context, name string) (fence.Register, error) {
		return fence.Object{Store: store, Key: name}, nil
	})
}
