package sim

import (
	"sync/atomic"
	"time"
)

// chance is a stream of random numbers (splitmix64). Each purpose has its own stream. So if something is removed from a
// plan, the random numbers for the rest do not change.
type chance struct{ state atomic.Uint64 }

const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// luck returns the start of the stream that belongs to these numbers.
func luck(of ...uint64) uint64 {
	x := uint64(golden)
	for _, n := range of {
		x = mix(x + golden ^ n)
	}
	return x
}

func newChance(of ...uint64) *chance {
	c := &chance{}
	c.state.Store(luck(of...))
	return c
}

// next returns the next number. It is safe for concurrent use.
func (c *chance) next() uint64 { return mix(c.state.Add(golden)) }

// dice is a stream for one goroutine.
type dice uint64

func (d *dice) next() uint64 {
	*d += golden
	return mix(uint64(*d))
}

// below returns a number from [0, n).
func (d *dice) below(n time.Duration) time.Duration { return time.Duration(d.next() % uint64(n)) }

// between returns a number from [a, b].
func (d *dice) between(a, b time.Duration) time.Duration { return a + d.below(b-a+1) }

// hit returns true with probability p.
func (d *dice) hit(p float64) bool { return float64(d.next()>>11)/(1<<53) < p }

func (d *dice) n(n int) int { return int(d.next() % uint64(n)) }

// pick returns one of several values.
func pick[T any](d *dice, from ...T) T { return from[d.n(len(from))] }
