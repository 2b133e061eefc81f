//go:build linux

package chaos

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestSlowTogether(t *testing.T) {
	lists := [][]span{{{10, 20}, {30, 50}}, {{15, 40}}, {{0, 16}, {35, 36}}}
	for least, want := range map[int][]span{
		1: {{0, 50}},
		2: {{10, 20}, {30, 40}},
		3: {{15, 16}, {35, 36}},
		4: nil,
	} {
		if got := allSlow(lists, least); !slices.Equal(got, want) {
			t.Errorf("in at least %d lists: %v, want %v", least, got, want)
		}
	}
	if d := within([]span{{10, 20}, {30, 40}}, 15, 33); d != 8 {
		t.Errorf("between 15 and 33: %d, want 8", d)
	}
}

// A majority that does not answer is an excuse, and a minority is none.
func TestSlowServersAreMeasured(t *testing.T) {
	t.Parallel()
	for frozen, excused := range map[int]bool{1: false, 2: true} {
		servers := redistest.StartN(t, 3)
		for _, s := range servers {
			s.MustDo(t, "PING")
		}
		m := measure(t, servers)
		from := Monotonic()
		for _, s := range servers[:frozen] {
			s.Freeze()
		}
		time.Sleep(4 * slowPing)
		to := Monotonic()
		for _, s := range servers[:frozen] {
			s.Thaw()
		}
		if d := within(m.end(), from, to); (d > slowPing) != excused {
			t.Errorf("%d of 3 servers did not answer for %s: %s of it are excused", frozen, time.Duration(to-from), d)
		}
	}
}
