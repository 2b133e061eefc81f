package fencetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/fence"
)

// Open returns a handle of the resource with this name. All handles of one name must use the same resource, as the
// handles of several processes do. A resource that was never opened before must be empty.
//
// The store must accept names of up to 100 bytes that contain letters, digits, "-", "/" and spaces.
type Open func(ctx context.Context, name string) (fence.Register, error)

// patience is the time limit of each check.
const patience = 2 * time.Minute

type check struct {
	name string
	run  func(ctx context.Context, s suite) error
}

// checks are all checks, in the order in which they run. The simple ones come first, because their errors are the
// easiest to understand.
var checks = []check{
	{"ANewResourceIsEmpty", empty},
	{"ValuesAreKept", kept},
	{"AnOldWriterIsRefused", oldWriter},
	{"ReadingShowsTheToken", showing},
	{"AReaderStopsOlderWriters", readerStopsWriters},
	{"AWriterStopsOlderReaders", writerStopsReaders},
	{"ReadersStopNoReaders", readersTogether},
	{"ATokenIsGoodForManyCalls", manyCalls},
	{"ARefusalNamesTheMark", evidence},
	{"ARefusalChangesNothing", nothingChanged},
	{"LargeTokensAreExact", largeTokens},
	{"BadTokensAreErrors", badTokens},
	{"ReadersCannotWrite", readersCannotWrite},
	{"HandlesShareTheMarks", sharedMarks},
	{"NamesAreSeparate", separateNames},
	{"CallsEndWithTheirContext", endedContext},
	{"AnyOrderOfCallsFollowsTheRule", anyOrder},
	{"NothingComesBetweenCompareAndWrite", writersOfThePast},
	{"FirstAccessesAreOneAfterTheOther", firstAccesses},
}

// Run checks a store. Each property has its own subtest. With go test -short there are fewer rounds in the checks of
// races.
func Run(t *testing.T, open Open) {
	t.Helper()
	rounds := rounds
	if testing.Short() {
		rounds = 10
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(t.Context(), open, rounds); err != nil {
				t.Error(err)
			}
		})
	}
}

// Check checks a store. It joins the errors of all properties that the store does not have. Each error names its
// property.
func Check(ctx context.Context, open Open) error {
	var errs []error
	for _, c := range checks {
		if err := c.do(ctx, open, rounds); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

func (c check) do(ctx context.Context, open Open, rounds int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the check took longer than %v", patience))
	defer cancel()
	return c.run(ctx, suite{open: open, prefix: "fencetest-" + rand.Text()[:12] + "/", rounds: rounds})
}

// suite makes resources for one check.
type suite struct {
	open   Open
	prefix string
	rounds int // number of rounds in each check of a race
}

// register opens a resource. If Open fails, the error says so.
func (s suite) register(ctx context.Context, name string) (fence.Register, error) {
	r, err := s.open(ctx, s.prefix+name)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return r, nil
}

// writer returns the token of a writer.
func writer(n int64) fence.Token { return fence.Token{Fence: n} }

// reader returns the token of a reader.
func reader(n int64) fence.Token { return fence.Token{Fence: n, Mode: fence.Reader} }
