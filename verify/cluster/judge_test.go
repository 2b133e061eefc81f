//go:build linux

package cluster

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

func TestStaysThatShareAnInstantOverlap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stays []stay
		want  int
	}{
		"one after the other":     {[]stay{{Enter: 1, Leave: 5}, {Enter: 5, Leave: 9}, {Enter: 10, Leave: 11}}, 0},
		"two at once":             {[]stay{{Enter: 1, Leave: 5}, {Enter: 4, Leave: 9}}, 1},
		"one inside of another":   {[]stay{{Enter: 1, Leave: 9}, {Enter: 2, Leave: 3}}, 1},
		"two inside of one":       {[]stay{{Enter: 1, Leave: 9}, {Enter: 2, Leave: 3}, {Enter: 5, Leave: 6}}, 2},
		"three at once":           {[]stay{{Enter: 1, Leave: 9}, {Enter: 2, Leave: 9}, {Enter: 3, Leave: 9}}, 3},
		"begun in another order":  {[]stay{{Enter: 4, Leave: 9}, {Enter: 1, Leave: 5}}, 1},
		"a lock that came late":   {[]stay{{Enter: 1, Leave: 9}, {Enter: 5, Leave: 5}}, 0},
		"a late one, another too": {[]stay{{Enter: 5, Leave: 5}, {Enter: 4, Leave: 9}, {Enter: 8, Leave: 10}}, 1},
	} {
		if got := len(overlaps(byName(c.stays, 1)[0])); got != c.want {
			t.Errorf("%s: %d overlaps, want %d", name, got, c.want)
		}
	}
	if got := (overlap{stay{Enter: 1, Leave: 9}, stay{Enter: 4, Leave: 7}}).lasted(); got != 3 {
		t.Errorf("an overlap lasted %d, want 3", got)
	}
}

func TestStaysOfDifferentNamesDoNotOverlap(t *testing.T) {
	t.Parallel()
	for i, of := range byName([]stay{{Name: 0, Enter: 1, Leave: 9}, {Name: 1, Enter: 2, Leave: 8}}, 2) {
		if len(of) != 1 || len(overlaps(of)) != 0 {
			t.Errorf("name %d has %d stays", i, len(of))
		}
	}
}

func TestTokensOutOfOrderAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokens []int64
		want   int
	}{{[]int64{1, 2, 7}, 0}, {[]int64{1, 1}, 1}, {[]int64{5, 1, 2, 6}, 2}, {[]int64{0, 0, 3, 0}, 0}} {
		var stays []stay
		for i, token := range c.tokens {
			stays = append(stays, stay{Enter: int64(i), Leave: int64(i) + 1, Token: token})
		}
		if got := inversions(stays); got != c.want {
			t.Errorf("%v: %d tokens out of order, want %d", c.tokens, got, c.want)
		}
	}
}

func TestTheGapIsTheLongestTimeWithNobodyInside(t *testing.T) {
	t.Parallel()
	stays := []stay{{Enter: 0, Leave: 10}, {Enter: 12, Leave: 30}, {Enter: 13, Leave: 14}, {Enter: 35, Leave: 36}, {Enter: 90, Leave: 91}}
	var got []time.Duration
	for _, r := range [][2]int64{{0, 40}, {5, 12}, {20, 80}, {10, 100}, {15, 20}, {40, 50}} {
		got = append(got, gap(stays, r[0], r[1]))
	}
	if want := []time.Duration{5, 2, 44, 54, 0, 10}; !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}

func TestAStayEndsAtTheDeadlineOfItsHold(t *testing.T) {
	t.Parallel()
	hold, end := until(time.Now().Add(-time.Hour))
	defer end()
	const hour = int64(time.Hour)
	now := chaos.Monotonic()
	if got := leave(hold, now-2*hour); got > now-hour+int64(time.Millisecond) {
		t.Errorf("the stay ends %v after its hold", time.Duration(got-now+hour))
	}
	if got := leave(hold, now); got != now {
		t.Error("a stay that began after its deadline has a length")
	}
	if got := leave(context.Background(), now); got < now || got > chaos.Monotonic() {
		t.Error("a stay without a deadline does not end now")
	}
}

func TestCountersOfNamesAreSeparate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "counters")
	a, err := openCounters(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openCounters(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.file.Close()
	defer b.file.Close()
	if err := a.write(1, 7); err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{0, 7, 0} {
		if got, err := b.read(i); got != want || err != nil {
			t.Errorf("counter %d is %d and %v, want %d", i, got, err, want)
		}
	}
}
