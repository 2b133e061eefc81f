package main

import (
	"math"
	"time"
)

// point is one reading of a counter.
type point struct {
	at    time.Duration
	count int
}

// stretch is the count between two readings.
type stretch struct {
	from, to time.Duration
	count    int
}

func (b stretch) rate() float64 { return float64(b.count) / (b.to - b.from).Seconds() }

// buckets divides readings into stretches of about width. The time between two readings is about every.
//
// Each stretch begins and ends at a reading, so its count and its rate are exact. A late reading does not make the next
// stretch shorter than half of width, because a few calls in a very short stretch would look like a burst.
func buckets(readings []point, width, every time.Duration) (list []stretch) {
	if len(readings) == 0 {
		return nil
	}
	origin, last := readings[0].at, readings[0]
	cut := origin + width
	for _, p := range readings[1:] {
		if p.at < cut-every/2 || p.at-last.at < width/2 {
			continue
		}
		list = append(list, stretch{last.at, p.at, p.count - last.count})
		last = p
		for cut <= p.at+every/2 {
			cut += width
		}
	}
	return list
}

// split returns two lists: the stretches that overlap with the time just after an event, and all others. The time after
// each event has the length of the parameter while.
func split(list []stretch, events []time.Duration, while time.Duration) (touched, others []stretch) {
next:
	for _, b := range list {
		for _, e := range events {
			if b.from < e+while && e < b.to {
				touched = append(touched, b)
				continue next
			}
		}
		others = append(others, b)
	}
	return touched, others
}

// meanRate returns the rate over all stretches, 0 if there is none. peakRate returns the highest rate of a stretch.
func meanRate(list []stretch) float64 {
	var all stretch
	for _, b := range list {
		all.to += b.to - b.from
		all.count += b.count
	}
	if all.to == 0 {
		return 0
	}
	return all.rate()
}

func peakRate(list []stretch) (peak float64) {
	for _, b := range list {
		peak = max(peak, b.rate())
	}
	return peak
}

// chance estimates the ratio of the highest of n stretches to their mean, if calls come at random times. mean is the
// mean number of calls in a stretch. Only a higher ratio than this is a peak.
func chance(n int, mean float64) float64 {
	if n < 2 || mean <= 0 {
		return 0
	}
	return 1 + math.Sqrt(2*math.Log(float64(n))/mean)
}
