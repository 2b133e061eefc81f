package clock

import (
	"math"
	"testing"
	"time"
)

// A sum or difference that no Instant or Duration can have is the largest or smallest one.
func TestInstantsDoNotOverflow(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		i    Instant
		d    time.Duration
		want Instant
	}{
		{3, 4, 7}, {3, -4, -1}, {most, 0, most}, {most - 1, 1, most}, {1, most, most}, {most, most, most},
		{most, -most, 0}, {-1, least, least}, {least, -1, least}, {least, least, least}, {0, least, least}, {least, most, -1},
	} {
		if got := c.i.Add(c.d); got != c.want {
			t.Errorf("%d.Add(%d) = %d; want %d", c.i, c.d, got, c.want)
		}
	}
	for _, c := range []struct {
		i, j Instant
		want time.Duration
	}{
		{3, 4, -1}, {4, 3, 1}, {most, 0, most}, {most, -1, most}, {most, least, most}, {0, least, most}, {-1, least, most},
		{least, 0, least}, {least, 1, least}, {least, most, least}, {-2, most, least}, {most, most, 0}, {least, least, 0},
	} {
		if got := c.i.Sub(c.j); got != c.want {
			t.Errorf("%d.Sub(%d) = %d; want %d", c.i, c.j, got, c.want)
		}
	}
}
