//go:build linux

package main

import "time"

// slice is what a server and its clients did for some seconds.
type slice struct {
	tally
	seconds float64
	usage
	n float64 // pieces of work
}

// repeats is the number of slices, of which the cheapest counts, and shortRepeats that of slices below a second. Other
// programs on the machine make the same work cost up to twice as much processor time, and starve clients.
var repeats, shortRepeats = 3, 10

// retakes is how many times more slices are run, at most, if other programs keep the machine busy.
var retakes = 2

// longest is the most time that a slice of a client that only keeps what it has may take.
var longest = time.Minute

// looking returns the first number of the line that makes a worker do nothing else for a time.
func looking(d time.Duration) int { return int(min(d, longest).Milliseconds()) }

// cheapest returns the slice in which a piece of work cost least, with the least cost of the client. Slices in which
// other programs used more of the machine than quiet count only if no slice was quiet.
func cheapest(times int, run func() slice) (best slice) {
	found, least := 0, 1.0
	for i := 0; found < times && i < retakes*times; i++ {
		m := startMeter()
		s := run()
		switch foreign := m.foreign(); {
		case foreign <= quiet:
			if found++; found == 1 {
				best = s
			}
			least = max(foreign, quiet/2)
		case found > 0 || i > 0 && foreign >= least:
			continue
		default:
			best, least = s, foreign
		}
		client := min(s.usage.CPU/s.n, best.usage.CPU/best.n)
		if s.tally.CPU/s.n < best.tally.CPU/best.n {
			best = s
		}
		best.usage.CPU = client * best.n
	}
	if best.seconds >= 2 {
		busiest = max(busiest, least)
	}
	return best
}
