package nodemodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// ownerOf returns the owner of a hand-off message without its token.
func ownerOf(news string) string {
	owner, _, _ := strings.Cut(news, "\n")
	return owner
}

// shown returns the highest token that the record and the readers show. A higher rseen comes from a test that wrote it.
func (s sight) shown() int64 {
	highest := s.record.Seen
	for _, r := range s.shared.all {
		highest = max(highest, r.token)
	}
	return highest
}

// brokenShared returns the rule about readers that a call broke, or "".
func brokenShared(w *world, c nodescript.Call, was, is sight, owner, answer string, heard []string) string {
	if was.shared.corrupt || is.shared.corrupt {
		return ""
	}
	grants := is.shared.grants(is.now)
	switch {
	case is.exclusive() && len(grants) > 0 && !(was.exclusive() && len(was.shared.grants(was.now)) > 0):
		return fmt.Sprintf("a writer beside readers: %+v and %+v", is.record, grants)
	case answer != "N" && (max(is.shared.seen, is.record.Seen) < min(was.shared.seen, was.shown()) ||
		max(is.shared.leased, is.record.Leased) < was.shared.leased):
		return fmt.Sprintf("readers are forgotten: %+v, and now %+v %+v", was.shared, is.record, is.shared)
	}
	for _, r := range is.shared.all {
		if r.token > is.shared.seen {
			spoilt := slices.ContainsFunc(was.shared.all, func(old reader) bool { return old.token == r.token && old.token > was.shared.seen })
			if !spoilt {
				return fmt.Sprintf("rseen is %d, and a reader has %+v", is.shared.seen, r)
			}
		}
	}
	// Only the owner itself ends a live grant of a reader. Only an acquire or a repair removes expired grants of
	// readers.
	for _, r := range was.shared.all {
		now, there := is.shared.entry(r.owner)
		switch {
		case there && now.token >= r.token && now.expiry >= r.expiry, r.owner == owner && !there, answer == "N":
		case r.owner == owner && now.token > r.token: // another round
		case r.token == 0 || now.token == 0 && there && was.now >= r.expiry: // a claim, or a claim over an expired grant
		case there || was.now < r.expiry:
			return fmt.Sprintf("%+v became %+v", r, now)
		case c.Op.Exclusive() == nodescript.Release || c.Op == nodescript.ExtendShared:
			return fmt.Sprintf("%s removed the expired %+v", c.Op, r)
		case max(is.shared.leased, is.record.Leased) < r.token:
			return fmt.Sprintf("%+v may have been a lease and is forgotten", r)
		}
	}
	if c.Op == nodescript.AcquireShared && answer[0] == 'G' {
		T, old := number(c.Args[0][:16]), was.shared
		one, there := is.shared.entry(owner)
		before, had := old.entry(owner)
		switch {
		case had && before.token == T && before.expiry > was.now: // repeated
		case !there || one.token != T:
			return fmt.Sprintf("granted, but the readers are %+v", is.shared)
		case was.record.live(was.now) && was.record.Owner != c.Args[2]:
			return "granted beside a live writer or its claim"
		case T <= was.record.Seen:
			return "granted below a writer's token"
		case is.record.Owner != "" || is.record.Leased < was.record.leased(owner):
			return fmt.Sprintf("the writer before is not ended: %+v", is.record)
		case was.record.Waiting && rank(is.queue, owner) >= 0:
			return "who has the name waits for it"
		case was.plain.foreign(nodescript.Marker, was.record.Owner):
			return "granted over a foreign key"
		}
		mine := had && before.expiry > was.now || c.Args[2] != "" && c.Args[2] == was.record.Owner && was.record.live(was.now)
		for _, first := range was.queue {
			over := first.ticket < 0 && -first.ticket < is.record.Leased
			earlier := len(c.Args[2]) != 16 || first.ticket < number(c.Args[2])
			if was.record.Waiting && !mine && earlier && !over && !nodescript.IsReader(first.owner) && w.hears(first.owner) {
				return fmt.Sprintf("%q waited before the reader", first.owner)
			}
		}
	}
	// Claims of readers go in the order of the queue, to adjacent readers.
	var next []string
	before := slices.Clone(was.queue)
	if c.Op.Exclusive() == nodescript.Acquire && len(c.Args[2]) == 16 && rank(before, owner) < 0 {
		before = append(before, waiter{number(c.Args[2]), owner})
		slices.SortFunc(before, waiter.compare)
	}
	for _, first := range before {
		gone := (c.Op.Exclusive() == nodescript.Release || answer[0] == 'G') && first.owner == owner
		over := first.ticket < 0 && -first.ticket < is.record.Leased
		if w.hears(first.owner) && !gone && !over {
			next = append(next, first.owner)
		}
	}
	for i, h := range heard {
		if i >= len(next) || next[i] != ownerOf(h) {
			return fmt.Sprintf("%q got claims, and %q wait", heard, next)
		}
		if _, there := is.shared.entry(ownerOf(h)); nodescript.IsReader(ownerOf(h)) && !there {
			return fmt.Sprintf("%q has no claim", h)
		}
	}
	if n := len(heard); n > 0 && n < nodescript.MostClaims && nodescript.IsReader(ownerOf(heard[n-1])) && len(is.queue) > 0 && nodescript.IsReader(is.queue[0].owner) {
		return fmt.Sprintf("%q got no claim behind %q", is.queue[0].owner, heard)
	}
	return ""
}

// hears reports whether a claim of an owner would be heard.
func (w *world) hears(owner string) bool {
	_, hears := w.stops[nodescript.Inbox(client(owner))]
	return hears && handable(owner)
}
