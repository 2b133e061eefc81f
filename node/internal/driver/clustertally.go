package driver

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// This file counts the answers of the servers of a cluster.

// A client counts the answers of at most mostWitnesses servers. If the cluster has more servers, enough answers must
// agree. Two majorities overlap even if two clients differ in one of the servers that they ask.
const (
	mostWitnesses = 9
	enough        = 6
)

// record is what a client remembers of the answers of majorities.
type record struct {
	spans   []kept
	members map[string]bool // the ids of the servers that the last majority listed; nil before the first one
	servers int             // the length of the longest list in an answer
	heard   clock.Instant   // when a majority last answered
}

// kept is what a client remembers of a row of hash slots.
type kept struct {
	from, to int
	epoch    uint64        // the config-epoch of the last owner that a majority named
	heard    clock.Instant // when a majority last named an owner
}

// count is the result of several answers.
type count struct {
	servers  int      // the number of servers that the cluster has
	asked    []member // the servers that are asked, sorted by id
	answered int      // the number of them that answered
	need     int      // the number of answers that must agree

	// majority is true if a majority agrees on the owner of at least one hash slot, or agrees that no hash slot has an
	// owner. If it is false, spans has no meaning.
	majority bool
	complete bool // each hash slot for which an answer names an owner has one in spans
	spans    []span
	members  []member        // all servers, sorted by id, as most answers describe them
	masters  map[string]bool // the ids of the servers that enough answers list as working masters
	record   record          // the record with these answers
}

// tally counts answers. Each answer must come from another server. now is the present instant.
//
// An answer counts for the owner of a hash slot only if all answers that name the same owner list its server. So a
// server that was forgotten, or has just joined, does not count. An answer with a lower config-epoch than that of the
// last owner does not count either: otherwise a client could go back to a former owner.
func (r *record) tally(views []*view, now clock.Instant) count {
	fresh := r.members != nil && now.Sub(r.heard) < stale
	views = slices.DeleteFunc(slices.Clone(views), func(v *view) bool { // another cluster has the address now
		return fresh && !slices.ContainsFunc(v.members, func(m member) bool { return r.members[m.id] })
	})
	c := count{members: merge(views), record: *r}
	for _, v := range views {
		c.servers = max(c.servers, len(v.members))
	}
	if fresh {
		c.servers = max(c.servers, r.servers)
	}
	c.asked, c.need = sample(c.members, c.servers)
	views = slices.DeleteFunc(views, func(v *view) bool {
		return !slices.ContainsFunc(c.asked, func(m member) bool { return m.id == v.self })
	})
	c.answered = len(views)
	if c.answered >= c.need {
		c.sweep(views, now)
	}
	if c.majority {
		c.masters = working(views, c.need)
		c.record.members, c.record.servers, c.record.heard = map[string]bool{}, 0, now
		for _, m := range c.members {
			c.record.members[m.id] = true
		}
		for _, v := range views {
			c.record.servers = max(c.record.servers, len(v.members))
		}
	}
	return c
}

// working returns the ids of the servers that at least need answers list as masters that have not failed.
func working(views []*view, need int) map[string]bool {
	said, masters := map[string]int{}, map[string]bool{}
	for _, v := range views {
		for _, m := range v.members {
			if m.master != "" || m.state == node.Fail {
				continue
			}
			if said[m.id]++; said[m.id] >= need {
				masters[m.id] = true
			}
		}
	}
	return masters
}

// sample returns the servers to ask, and how many of them must agree.
func sample(members []member, servers int) (asked []member, need int) {
	if servers <= mostWitnesses {
		return members, servers/2 + 1
	}
	type drawn struct {
		sum [sha1.Size]byte
		member
	}
	order := make([]drawn, len(members))
	for i, m := range members {
		order[i].sum, order[i].member = sha1.Sum([]byte(m.id)), m
	}
	slices.SortFunc(order, func(a, b drawn) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	for _, o := range order[:min(len(order), mostWitnesses)] {
		asked = append(asked, o.member)
	}
	return asked, enough
}

// ballot is a set of answers: bit i is set for answer i.
type ballot uint64

// sweep finds the owner of each hash slot.
func (c *count) sweep(views []*view, now clock.Instant) {
	listing := make([]ballot, len(views)) // for each answer, the answers that list its server
	edges := []int{0, node.Slots}
	for i, v := range views {
		for j, w := range views {
			if w.lists(v.self) {
				listing[i] |= 1 << j
			}
		}
		for _, s := range v.spans {
			edges = append(edges, s.from, s.to+1)
		}
	}
	for _, k := range c.record.spans {
		edges = append(edges, k.from, k.to+1)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	before := c.record.spans
	c.record.spans, c.complete = nil, true
	at := make([]int, len(views)+1) // the place in the spans of each answer, and in before
	all := ballot(1)<<len(views) - 1
	unowned := true
	for i, from := range edges[:len(edges)-1] {
		to := edges[i+1] - 1
		last := &at[len(views)]
		var was kept
		for *last < len(before) && before[*last].to < from {
			*last++
		}
		if *last < len(before) && before[*last].from <= from {
			was = before[*last]
		}
		said := make([]*span, len(views))
		for i, v := range views {
			for at[i] < len(v.spans) && v.spans[at[i]].to < from {
				at[i]++
			}
			if at[i] < len(v.spans) && v.spans[at[i]].from <= from {
				said[i], unowned = &v.spans[at[i]], false
			}
		}
		owner, epoch, claimed := c.elect(said, listing, was, now)
		switch {
		case owner != "":
			c.majority = true
			c.spans = join(c.spans, span{from, to, owner, epoch})
			was = kept{epoch: epoch, heard: now}
		case claimed:
			c.complete = false
		}
		was.from, was.to = from, to
		c.record.spans = remember(c.record.spans, was)
	}
	if unowned && counted(all, listing) >= c.need {
		c.majority = true
	}
}

// elect returns the owner of a hash slot, "" if no majority names one. said has what each answer says about the slot.
// claimed reports whether an answer names an owner.
func (c *count) elect(said []*span, listing []ballot, was kept, now clock.Instant) (owner string, epoch uint64, claimed bool) {
	elected := false
	for i, s := range said {
		if s == nil {
			continue
		}
		claimed = true
		if slices.ContainsFunc(said[:i], func(b *span) bool { return b != nil && b.owner == s.owner }) {
			continue // counted before
		}
		var same ballot
		var epochs []uint64
		for j, t := range said {
			if t != nil && t.owner == s.owner && (t.epoch >= was.epoch || now.Sub(was.heard) >= stale) {
				same |= 1 << j
			}
		}
		for j, t := range said {
			if same>>j&1 == 1 && listing[j]&same == same {
				epochs = append(epochs, t.epoch)
			}
		}
		if len(epochs) < c.need {
			continue
		}
		if elected { // two majorities: the answers come from two clusters
			return "", 0, true
		}
		slices.Sort(epochs)
		owner, epoch, elected = s.owner, epochs[len(epochs)-c.need], true
	}
	return owner, epoch, claimed
}

// counted returns the number of answers in a ballot whose servers are listed by all answers in the ballot.
func counted(b ballot, listing []ballot) (n int) {
	for i, l := range listing {
		if b>>i&1 == 1 && l&b == b {
			n++
		}
	}
	return n
}

// join appends a span, or lengthens the last one.
func join(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].to+1 == s.from && spans[n-1].owner == s.owner && spans[n-1].epoch == s.epoch {
		spans[n-1].to = s.to
		return spans
	}
	return append(spans, s)
}

// remember appends what a client remembers of a row of slots, or lengthens the last row.
func remember(spans []kept, k kept) []kept {
	if n := len(spans); n > 0 && spans[n-1].to+1 == k.from && spans[n-1].epoch == k.epoch && spans[n-1].heard == k.heard {
		spans[n-1].to = k.to
		return spans
	}
	if k.heard == 0 && k.epoch == 0 {
		return spans
	}
	return append(spans, k)
}

// merge returns all servers in the lists of the answers, sorted by id. A server gets the address and the master that
// most answers name, and the state that more than half of all answers name. If two values have the same number of
// answers, the first one in the order of texts wins.
func merge(views []*view) (members []member) {
	type said struct{ id, what, value string }
	votes, best := map[said]int{}, map[said]string{}
	for _, v := range views {
		for _, m := range v.members {
			for what, value := range map[string]string{"addr": m.addr, "master": m.master, "state": m.state} {
				votes[said{m.id, what, value}]++
			}
		}
	}
	for s, n := range votes {
		key := said{id: s.id, what: s.what}
		if s.what == "state" && 2*n <= len(views) {
			best[key] = cmp.Or(best[key], "")
			continue
		}
		top, given := best[key]
		if most := votes[said{s.id, s.what, top}]; !given || n > most || n == most && s.value < top {
			best[key] = s.value
		}
	}
	for s := range best {
		if s.what == "addr" {
			members = append(members, member{s.id, best[s], best[said{id: s.id, what: "master"}], best[said{id: s.id, what: "state"}]})
		}
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.id, b.id) })
	return members
}
