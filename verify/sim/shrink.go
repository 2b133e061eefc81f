package sim

import (
	"slices"
)

// Shrink removes faults, actors and locks from a plan, as long as fails reports that the smaller plan still fails. It
// calls fails at most tries times.
func Shrink(p *Plan, tries int, fails func(*Plan) bool) *Plan {
	best := p.clone()
	try := func(change func(*Plan)) bool {
		if tries <= 0 {
			return false
		}
		tries--
		smaller := best.clone()
		change(smaller)
		if !fails(smaller) {
			return false
		}
		best = smaller
		return true
	}
	for before := -1; before != best.size() && tries > 0; {
		before = best.size()
		parts(len(best.Faults), func(i, j int) bool {
			return try(func(p *Plan) { p.Faults = slices.Delete(p.Faults, i, j) })
		})
		parts(len(best.Actors), func(i, j int) bool {
			return try(func(p *Plan) { p.Actors = slices.Delete(p.Actors, i, j) })
		})
		for a := range best.Actors {
			parts(len(best.Actors[a].Ops), func(i, j int) bool {
				return try(func(p *Plan) {
					// The lock that follows the removed locks begins at the same time as before.
					ops := p.Actors[a].Ops
					if j < len(ops) {
						for _, o := range ops[i:j] {
							ops[j].Pause += o.Pause + o.Hold
						}
					}
					p.Actors[a].Ops = slices.Delete(ops, i, j)
				})
			})
			parts(len(best.Actors[a].Wish), func(i, j int) bool {
				return try(func(p *Plan) { p.Actors[a].Wish = slices.Delete(p.Actors[a].Wish, i, j) })
			})
		}
	}
	return best
}

// parts offers parts [i, j) of n things to drop, large parts first.
func parts(n int, drop func(i, j int) bool) {
	for size := n; size > 0; size /= 2 {
		for i := 0; i < n; {
			j := min(i+size, n)
			if drop(i, j) {
				n -= j - i
			} else {
				i = j
			}
		}
	}
}

func (p *Plan) size() int { return len(p.Faults) + len(p.Actors) + p.ops() }

func (p *Plan) clone() *Plan {
	c := *p
	c.Faults = slices.Clone(p.Faults)
	c.Actors = slices.Clone(p.Actors)
	for i := range c.Actors {
		c.Actors[i].Ops = slices.Clone(p.Actors[i].Ops)
		c.Actors[i].Wish = slices.Clone(p.Actors[i].Wish)
	}
	return &c
}
