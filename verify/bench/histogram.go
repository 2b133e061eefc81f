package main

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets that are 3 % wide, from 1 µs on. Its zero value is empty. It is not safe for
// concurrent use: each goroutine has its own.
type histogram struct {
	Counts  []uint32
	Longest time.Duration
}

const (
	least    = 10 // log2 ns of the first bucket's end
	perOctet = 32 // buckets per doubling
)

func (h *histogram) add(d time.Duration) {
	i := bucket(d)
	if i >= len(h.Counts) {
		h.Counts = append(h.Counts, make([]uint32, i+1-len(h.Counts))...)
	}
	h.Counts[i]++
	h.Longest = max(h.Longest, d)
}

func bucket(d time.Duration) int {
	if d < 1<<least {
		return 0
	}
	e := bits.Len64(uint64(d)) - 1
	return (e-least)*perOctet + int(d>>(e-5))&(perOctet-1)
}

// middle returns the duration in the middle of bucket i.
func middle(i int) time.Duration {
	e := i/perOctet + least
	low := time.Duration(perOctet+i%perOctet) << (e - 5)
	return low + time.Duration(1)<<(e-5)/2
}

func (h *histogram) merge(o histogram) {
	if n := len(o.Counts) - len(h.Counts); n > 0 {
		h.Counts = append(h.Counts, make([]uint32, n)...)
	}
	for i, c := range o.Counts {
		h.Counts[i] += c
	}
	h.Longest = max(h.Longest, o.Longest)
}

// quantile returns the duration below which the share q of all durations lies, or 0 without durations.
func (h *histogram) quantile(q float64) time.Duration {
	total := 0
	for _, c := range h.Counts {
		total += int(c)
	}
	want := int(q*float64(total) + 0.5)
	for i, c := range h.Counts {
		if want -= int(c); want <= 0 && total > 0 {
			return min(middle(i), h.Longest)
		}
	}
	return 0
}
