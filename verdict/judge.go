package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Judgement is what the answers of all nodes about one lock say together.
type Judgement struct {
	// Known is true if the answers decide who holds the lock. If it is false, the other fields mean nothing.
	Known bool

	// Held is true if a majority of the nodes names the same holder.
	Held bool

	// Holders has one holder for an exclusive lock, and the readers of a shared one, sorted by token. Readers that have
	// only a claim come last. It is empty if Held is false.
	Holders []Holder

	// Readers is the number of readers that have the lock. It is 0 if nobody has it shared.
	Readers int
}

// Judge judges the answers of all nodes about one lock. A node that does not vote ([Answer.Unsure]) counts for the
// holder that it names. For all other holders it counts as unknown, as a node without an answer does.
func Judge(nodes []Answer) (j Judgement) {
	named, sure, unknown := map[string]int{}, map[string]int{}, 0
	majority := quorum.Majority(len(nodes))
	for _, n := range nodes {
		if n.Err != nil || n.Unsure {
			unknown++
		}
		for _, h := range n.Holders() {
			if !n.Unsure {
				sure[h.Owner]++
			}
			if named[h.Owner]++; named[h.Owner] == majority {
				j.Held = true
				j.Holders = append(j.Holders, holder(nodes, h.Owner, majority))
			}
		}
	}
	j.count(nodes, majority)
	most := 0
	for _, n := range sure {
		most = max(most, n)
	}
	j.Known = j.Held || len(nodes)-unknown >= majority && most+unknown < majority
	return j
}

// Holders returns the answers about the holders that one node names: one, or all readers that it lists.
func (n Answer) Holders() []Answer {
	switch {
	case n.Err != nil || !n.Held():
		return nil
	case n.Listed != nil:
		return n.Listed
	}
	return []Answer{n}
}

// count sorts the readers and counts them. Readers that have only a claim come last, and do not count. If there are
// many readers, a node lists only some of them and states their number.
func (j *Judgement) count(nodes []Answer, majority int) {
	slices.SortStableFunc(j.Holders, func(a, b Holder) int {
		switch {
		case a.Offered == b.Offered:
			return cmp.Compare(a.Fence, b.Fence)
		case b.Offered:
			return -1
		}
		return 1
	})
	if len(j.Holders) == 0 || !j.Holders[0].Shared || j.Holders[0].Offered {
		return
	}
	for _, h := range j.Holders {
		if !h.Offered {
			j.Readers++
		}
	}
	counts := make([]int, len(nodes))
	for i, n := range nodes {
		counts[i] = n.Readers
	}
	slices.Sort(counts)
	if most := counts[len(counts)-majority]; most > nodescript.MostListed {
		j.Readers = max(j.Readers, most)
	}
}

// holder returns what the nodes say about an owner that a majority names. Some nodes may have a lease of this owner,
// and others only a claim. The owner has the lock if a majority has its lease.
func holder(nodes []Answer, owner string, majority int) Holder {
	h, leases, fence := Holder{Owner: owner}, 0, int64(0)
	for _, n := range nodes {
		i := slices.IndexFunc(n.Holders(), func(h Answer) bool { return h.Owner == owner })
		if i < 0 {
			continue
		}
		n = n.Holders()[i]
		h.Foreign = h.Foreign || n.Foreign
		if n.Fence != 0 {
			leases++
			fence = max(fence, n.Fence)
		}
		if n.Until.After(h.Until) {
			h.Until = n.Until
		}
	}
	as := HolderOf(owner, h.Foreign)
	h.Left, h.Shared = as.Left, as.Shared
	h.Offered = !h.Foreign && leases < majority
	if leases >= majority {
		h.Fence, h.Since = fence, time.UnixMicro(fence)
	}
	return h
}
