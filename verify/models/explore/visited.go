package explore

import (
	"hash/maphash"
	"unsafe"
)

// chunk is the number of states that are stored together, so that growth copies no state.
const chunk = 1 << 14

// visited is the set of states met so far, numbered in that order. A hash finds the place of a possible state. The
// state is present only if it is equal.
type visited[S comparable] struct {
	seed    maphash.Seed
	states  [][]S
	parents [][]int32 // the state from which each state was first reached
	n       int
	slots   []int32 // number + 1, or 0; open addressing
}

func newVisited[S comparable]() *visited[S] {
	return &visited[S]{seed: maphash.MakeSeed(), slots: make([]int32, 1<<16)}
}

func (v *visited[S]) at(i int) *S      { return &v.states[i/chunk][i%chunk] }
func (v *visited[S]) parent(i int) int { return int(v.parents[i/chunk][i%chunk]) }
func (v *visited[S]) hash(s S) (i int) {
	return int(maphash.Comparable(v.seed, s) & uint64(len(v.slots)-1))
}
func (v *visited[S]) after(slot int) int { return (slot + 1) & (len(v.slots) - 1) }

// add stores a state and reports whether it is new.
func (v *visited[S]) add(s S, parent int) bool {
	slot := v.hash(s)
	for ; v.slots[slot] != 0; slot = v.after(slot) {
		if *v.at(int(v.slots[slot]) - 1) == s {
			return false
		}
	}
	if v.n%chunk == 0 {
		v.states = append(v.states, make([]S, chunk))
		v.parents = append(v.parents, make([]int32, chunk))
	}
	v.states[v.n/chunk][v.n%chunk] = s
	v.parents[v.n/chunk][v.n%chunk] = int32(parent)
	v.n++
	v.slots[slot] = int32(v.n)
	if v.n*2 > len(v.slots) {
		v.grow()
	}
	return true
}

func (v *visited[S]) grow() {
	v.slots = make([]int32, 2*len(v.slots))
	for i := range v.n {
		slot := v.hash(*v.at(i))
		for v.slots[slot] != 0 {
			slot = v.after(slot)
		}
		v.slots[slot] = int32(i + 1)
	}
}

// bytes returns the size of the stored states.
func (v *visited[S]) bytes() int {
	var s S
	return len(v.states)*chunk*(int(unsafe.Sizeof(s))+4) + 4*len(v.slots)
}
