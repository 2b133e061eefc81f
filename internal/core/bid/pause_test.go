package bid

import (
	"testing"
	"time"
)

// The length of a pause depends only on the numbers drawn.
func TestTheLengthOfAPause(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		pause       Pause
		least, most time.Duration // the length with the smallest and with the greatest numbers
		draws       int
	}{
		{"plain", Pause{Most: time.Second}, 1000 * ms, 1000 * ms, 0},
		{"random", Pause{Most: time.Second, Random: true}, 0, 1000*ms - 1, 1},
		{"nobody hands the name over", Pause{Most: time.Second, Alone: true, Retry: 200 * ms}, 100 * ms, 300 * ms, 1},
		{"and the retry delay is long", Pause{Most: time.Second, Alone: true, Retry: time.Hour}, 1000 * ms, 1000 * ms, 1},
		{"about", Pause{About: 20 * ms}, 10 * ms, 30 * ms, 1},
		{"a part", Pause{Most: time.Second, Part: 200 * ms}, 100 * ms, 300 * ms, 1},
		{"a part for long", Pause{Most: time.Hour, Part: time.Hour}, time.Second, time.Second, 1},
		{"a part, and less than that", Pause{Most: 50 * ms, Part: 200 * ms}, 50 * ms, 50 * ms, 1},
		{"the lease ends", Pause{Most: time.Second, Left: 100 * ms}, 105 * ms, 115 * ms, 1},
		{"the lease ends later", Pause{Most: time.Second, Left: 2 * time.Second}, 1000 * ms, 1000 * ms, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			draws := 0
			least := c.pause.Length(func(time.Duration) time.Duration { draws++; return 0 })
			most := c.pause.Length(func(below time.Duration) time.Duration { return below - 1 })
			if least != c.least || most != c.most || draws != c.draws {
				t.Errorf("between %s and %s by %d numbers, want between %s and %s by %d", least, most, draws, c.least, c.most, c.draws)
			}
		})
	}
}
