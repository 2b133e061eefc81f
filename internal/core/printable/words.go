package printable

import (
	"fmt"
	"time"
)

// Duration returns a duration in words, rounded so that a person reads it easily.
func Duration(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// AtLeast returns a duration as [Duration] does, but rounded up. A hint says how long to wait. This must not be shorter
// than the times that the answers of the nodes say next to it.
func AtLeast(d time.Duration) string {
	unit := time.Millisecond
	switch {
	case d >= 10*time.Second:
		unit = time.Second
	case d >= time.Second:
		unit = 100 * time.Millisecond
	}
	return (d + unit - 1).Truncate(unit).String()
}

// Others returns the words for n more holders: "", " and 1 other", " and 3 others".
func Others(n int) string {
	switch {
	case n < 1:
		return ""
	case n == 1:
		return " and 1 other"
	}
	return fmt.Sprintf(" and %d others", n)
}

// Count returns a number and its noun, such as "1 replica" or "2 replicas".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
