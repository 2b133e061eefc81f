package sim

// breach is which promise a violation breaks.
type breach uint8

// Breaches, the gravest first.
const (
	twoHolders        breach = iota
	holderWithForeign        // a foreign client and one of ours
	lossToldLate             // the next holder was granted the name before the last one knew
	tokenNotAbove
	freeWhileWaited
	servedLate // out of turn
	ghost      // something is left of what was given back
	neverGot
	doesNotKnow        // that it lost a lease
	otherConfiguration // a client with one was granted a name
	nobodyFoundOut     // that a node had forgotten
	beforeUnlockAt
	lostForNothing
	endedWrong
	errorOfNoKind
	statusIsBlind
	secondUnlock
	tooManyCalls
	nodeSeemsWrong
	anyOther
	breaches
)

// holdsForSpares reports whether b is judged where the lists of clients differ. Such clients share fewer nodes than the
// other judges take for granted. And foreign clients report no members: with another list they exclude nobody.
func (b breach) holdsForSpares() bool { return b == twoHolders || b == tokenNotAbove || b == ghost }

// Breaks reports whether a result breaks the promise that another does.
func (r *Result) Breaks(same *Result) bool {
	for b := range anyOther {
		if same.broken[b] {
			return r.broken[b]
		}
	}
	return len(r.Violations) > 0
}
