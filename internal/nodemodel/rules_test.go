package nodemodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// rules are conditions that no script may break. They are checked on the model after every call of a random history.
// The comparison shows that the server does the same.

// sight is the data that a node stores for a name.
type sight struct {
	record stored
	plain  plain
	queue  []waiter
	shared readers
	now    int64
}

// exclusive reports whether a writer has a live grant.
func (s sight) exclusive() bool { return s.record.live(s.now) && s.record.Token != 0 }

func (n *Node) sight(keys []string) (s sight) {
	n.Keys() // removes expired keys
	s.now = n.now()
	s.record, _ = n.record(keys[0])
	if len(keys) > 1 {
		text, there, err := n.text(keys[1])
		s.plain = plain{keys[1], there, text, err != nil}
	}
	s.queue, _ = n.queue(queueKey(keys[0]))
	s.queue = slices.Clone(s.queue)
	if s.record.Shared {
		s.shared, _ = n.readers(node.Call{Keys: keys})
	}
	return s
}

// whole runs a call on the model. A call that fails changes no key. Otherwise a node could have a part of a grant that
// no client counts. If the model breaks this rule, whole returns the rule in place of the error.
func (w *world) whole(call func() node.Reply) node.Reply {
	before := w.model.Keys()
	r := call()
	if r.Err != nil && !slices.EqualFunc(before, w.model.Keys(), Key.same) {
		return node.Reply{Value: "a rule is broken: a call changed keys, and then failed with " + node.Code(r.Err)}
	}
	return r
}

// broken returns the rule that a call broke, or "". heard are the owners that got a claim message. wanted are the
// messages that ask for a partial grant.
func broken(w *world, c nodescript.Call, was sight, answer string, heard, wanted []string) string {
	is := w.model.sight(c.Keys)
	op, owner := c.Op.Exclusive(), c.Args[0]
	if op == nodescript.Acquire {
		owner = c.Args[3]
	}
	if how := brokenShared(w, c, was, is, owner, answer, heard); how != "" {
		return how
	}
	writers := slices.DeleteFunc(slices.Clone(heard), func(h string) bool { return nodescript.IsReader(ownerOf(h)) })
	claimed := is.record.Token == 0 && is.record.Owner != "" &&
		(is.record.Owner != was.record.Owner || is.record.Token != was.record.Token || is.record.Expiry != was.record.Expiry)
	switch {
	case is.record.Seen < was.record.Seen:
		return fmt.Sprintf("seen went back from %d to %d", was.record.Seen, is.record.Seen)
	case is.record.Leased < was.record.Leased:
		return fmt.Sprintf("leased went back from %d to %d", was.record.Leased, is.record.Leased)
	case len(writers) > 1, len(writers) == 1 && len(heard) > 1:
		return fmt.Sprintf("one name was handed to %q", heard)
	case (len(writers) == 1) != claimed:
		return fmt.Sprintf("news %q, but the record is %+v", heard, is.record)
	case len(wanted) > 0 && (op != nodescript.Extend || answer[:1] != "L"):
		return fmt.Sprintf("%q is wanted by %s", wanted, c.Op)
	case len(is.queue) > 0 && is.record.there && !is.record.Waiting && (was.record.Waiting || len(was.queue) == 0):
		return fmt.Sprintf("%v wait and the flag does not say so", is.queue)
	}
	if c.Op == nodescript.Acquire && answer[0] == 'G' && is.record != was.record { // not a repeated command
		T := number(c.Args[0][16:32])
		switch {
		case is.record.Token != T || is.record.Owner != owner || T == 0:
			return fmt.Sprintf("granted, but the record is %+v", is.record)
		case is.record.Leased < was.record.leased(owner):
			return "the lease before is forgotten"
		case was.record.live(was.now) && was.record.Owner != owner && was.record.Owner != c.Args[2]:
			return "a live lease or claim was taken"
		case was.record.Waiting && rank(is.queue, owner) >= 0:
			return "who has the name waits for it"
		case (answer == "G1") != is.record.Waiting:
			return "the answer does not tell whether others wait"
		case was.plain.foreign(owner, was.record.Owner):
			return "granted over a foreign key"
		}
	}
	for _, m := range wanted {
		grants := append(is.shared.alive(is.now), reader{owner: is.record.Owner, token: is.record.Token})
		if !slices.ContainsFunc(grants, func(r reader) bool {
			return r.token != 0 && strings.HasPrefix(m, nodescript.Micros(r.token)+r.owner+"\n")
		}) {
			return fmt.Sprintf("%q is wanted, but the grants are %+v", m, grants)
		}
	}
	if !claimed {
		return ""
	}
	// The name was handed on.
	before := was.queue
	if op == nodescript.Acquire && len(c.Args[2]) == 16 && rank(before, owner) < 0 {
		before = append(before, waiter{number(c.Args[2]), owner})
		slices.SortFunc(before, waiter.compare)
	}
	to := is.record.Owner
	place := rank(before, to)
	if place < 0 {
		return fmt.Sprintf("handed to %q, which did not wait", to)
	}
	for _, passed := range before[:place] {
		if passed.ticket < 0 && -passed.ticket < is.record.Leased {
			continue // it would repair an ended lease
		}
		_, hears := w.stops[nodescript.Inbox(client(passed.owner))]
		if hears && handable(passed.owner) && !(op == nodescript.Release && passed.owner == owner) {
			return fmt.Sprintf("%q came before %q and was passed over", passed.owner, to)
		}
	}
	switch {
	case answer[0] == 'G':
		return "a hand-off was told as a grant"
	case was.record.live(was.now) && was.record.Owner != owner:
		return "a live lease or claim was handed on"
	case was.plain.foreign(owner, was.record.Owner):
		return "handed on over a foreign key"
	case is.record.Expiry > is.now+nodescript.Claim.Microseconds():
		return "a claim for longer than a claim is"
	case op == nodescript.Release && to == owner:
		return "handed to the one who gave it back"
	case is.record.Waiting != (len(is.queue) > 0):
		return "the flag of a claim does not say whether others wait"
	}
	return ""
}
