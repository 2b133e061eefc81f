package sample

import "slices"

const (
	// MostPoints is the number of recent points that a Sampler keeps: five minutes at one reading a second.
	MostPoints = 300
	// MostMinutes is the number of minutes for which a Sampler keeps one point each.
	MostMinutes = 24 * 60
)

// past keeps the points of the last readings, and one point for each minute before.
type past struct {
	since   int64
	recent  []Point
	minutes []Point
}

// add adds a point. A minute has the largest sums of its points, and the fewest votes.
func (p *past) add(at Point) {
	if p.since == 0 {
		p.since = at.At
	}
	if p.recent = append(p.recent, at); len(p.recent) > MostPoints {
		p.recent = slices.Clone(p.recent[len(p.recent)-MostPoints:])
	}
	const minute = 60_000
	if n := len(p.minutes); n > 0 && p.minutes[n-1].At/minute == at.At/minute {
		m := &p.minutes[n-1]
		m.Voting = min(m.Voting, at.Voting)
		if at.Known {
			m.Known = true
			m.Names, m.Holders, m.Waiters = max(m.Names, at.Names), max(m.Holders, at.Holders), max(m.Waiters, at.Waiters)
			m.HandOffs = max(m.HandOffs, at.HandOffs)
		}
		return
	}
	if p.minutes = append(p.minutes, at); len(p.minutes) > MostMinutes {
		p.minutes = slices.Clone(p.minutes[len(p.minutes)-MostMinutes:])
	}
}

func (p *past) copy() History {
	return History{Since: p.since, Recent: append([]Point{}, p.recent...), Minutes: append([]Point{}, p.minutes...)}
}
