package admin

import "hash/maphash"

// recent remembers the last texts that were added to it, as digests of 128 bits. Two texts with the same digest
// practically never occur.
type recent struct {
	seeds [2]maphash.Seed
	has   map[[2]uint64]struct{}
	order [][2]uint64 // ring of the digests: a new one replaces the oldest
	next  int
}

func newRecent(most int) *recent {
	return &recent{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, has: map[[2]uint64]struct{}{}, order: make([][2]uint64, 0, most),
	}
}

// add returns false if recent still remembers text. Otherwise it remembers text and returns true.
func (r *recent) add(text string) bool {
	sum := [2]uint64{maphash.String(r.seeds[0], text), maphash.String(r.seeds[1], text)}
	if _, is := r.has[sum]; is {
		return false
	}
	r.has[sum] = struct{}{}
	if len(r.order) < cap(r.order) {
		r.order = append(r.order, sum)
		return true
	}
	delete(r.has, r.order[r.next])
	r.order[r.next] = sum
	r.next = (r.next + 1) % len(r.order)
	return true
}
