package sim

// breach is the promise that a violation breaks.
type breach uint8

// These are the breaches, the gravest first.
const (
	twoHolders        breach = iota
	holderWithForeign        // a foreign client and a Holdfast client hold the same name
	lossToldLate             // the next holder got the name before the previous holder knew of its loss
	tokenNotAbove
	freeWhileWaited
	servedLate // a later waiter was served first
	ghost      // a release left something on a node
	neverGot
	doesNotKnow        // a client does not know that it lost a lease
	otherConfiguration // a client with another configuration got a name
	nobodyFoundOut     // no client found that a node had forgotten
	beforeUnlockAt
	lostForNothing
	endedWrong
	errorOfNoKind
	statusIsBlind
	secondUnlock
	handleWrong // a handle of a lease
	badSlot     // a slot that the caller does not use
	joinedLate  // a reader joined a lease of its client that it must not join
	valueWrong  // a holder found another value than the last one
	valueWithheld
	termWrong // an observer saw a term that it must not see
	tooManyCalls
	nodeSeemsWrong
	anyOther
	breaches
)

// holdsForSpares reports whether the judge of b also applies to worlds in which clients have different node lists. Such
// clients share fewer nodes than the other judges assume. Foreign clients report no members, so a foreign client with
// another list excludes no client.
func (b breach) holdsForSpares() bool { return b == twoHolders || b == tokenNotAbove || b == ghost }

// Breaks reports whether r breaks the gravest promise that another result breaks.
func (r *Result) Breaks(same *Result) bool {
	for b := range anyOther {
		if same.broken[b] {
			return r.broken[b]
		}
	}
	return len(r.Violations) > 0
}
