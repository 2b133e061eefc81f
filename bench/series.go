package main

import (
	"math"
	"time"
)

// point is a counter as it was read.
type point struct {
	at    time.Duration
	count int
}

// stretch is what was counted between two readings.
type stretch struct {
	from, to time.Duration
	count    int
}

func (b stretch) rate() float64 { return float64(b.count) / (b.to - b.from).Seconds() }

// buckets cuts readings, which are about every apart, into buckets of about width. Each
// begins and ends at a reading, so that every count is exact; a rate is by the time
// between those two. A reading that came late makes the next stretch no shorter than half a
// width: a few calls in a moment are no burst.
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

// split tells the buckets that touch the time from an event on, for a while, from the others.
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

// meanRate is the rate over all of them, peakRate the highest of one; 0 for none.
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

// chance is about how far above the mean of its kind the highest of n buckets lies if
// mean calls per stretch come independently of each other: what a peak must exceed to be one.
func chance(n int, mean float64) float64 {
	if n < 2 || mean <= 0 {
		return 0
	}
	return 1 + math.Sqrt(2*math.Log(float64(n))/mean)
}
