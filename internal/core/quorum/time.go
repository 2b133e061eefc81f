package quorum

import "github.com/holdfast-go/holdfast/internal/core/clock"

// Time returns the stamp time of now. Unlike Stamp, it draws no stamp. It returns the same errors as Stamp.
func (t *Timebase) Time(now clock.Instant) (int64, error) {
	if err := t.settled(now); err != nil {
		return 0, err
	}
	return t.StampAt(now), nil
}
