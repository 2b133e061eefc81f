package explore

import "time"

// Result is the result of a search.
type Result struct {
	States int           // different ones, up to symmetry
	Depth  int           // steps on the shortest way to the farthest state
	Broken string        // the broken promise; "" if none is
	Trace  []string      // the steps in words, from the first state
	Full   bool          // every reachable state was visited
	Took   time.Duration // wall clock
	Bytes  int           // the size of the stored states
}

// Run visits the states of a model, breadth first. It stops when a promise is broken, all states are visited, or there
// are more than limit states.
func Run[S comparable](m Model[S], limit int) (r Result) {
	begun := time.Now()
	v := newVisited[S]()
	v.add(m.Canonical(m.Initial()), -1)
	var from int
	var before S
	visit := func(step Step, after S) {
		if r.Broken != "" {
			return
		}
		if r.Broken = m.Broken(before, step, after); r.Broken != "" {
			r.Trace, r.Broken = trace(m, v, from, step)
			return
		}
		v.add(m.Canonical(after), from)
	}
	level := 1 // the number of the first state at the next depth
	for from = 0; from < v.n && v.n <= limit && r.Broken == ""; from++ {
		if from == level {
			r.Depth, level = r.Depth+1, v.n
		}
		before = *v.at(from)
		m.Steps(before, visit)
	}
	r.States, r.Bytes, r.Full, r.Took = v.n, v.bytes(), from == v.n && r.Broken == "", time.Since(begun)
	return r
}
