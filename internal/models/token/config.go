package token

// Config is one configuration of the model: how much there is of everything.
type Config struct {
	Owners   int     // bids, at most 3
	Stamps   int     // stamps that can be drawn, at most 3; two owners may draw the same
	Rounds   int     // stamps one owner draws; 0 means 1
	GiveBack bool    // an owner gives a part back and bids on with a higher stamp
	HandOffs bool    // nodes hand the free name to anybody who asked: a claim
	Passes   bool    // a lease is passed on to another owner in the process
	AnyClock bool    // a node's clock may be so far behind that it caps a tombstone
	Above    bool    // a release after a renewal names the renewal's stamp, above the token
	Wipes    int     // times that a node loses its memory
	Without  Rule    // the rule that is left out
	Ask      Promise // the only promise to look at; the zero value means all
}

// Rule is one rule of the protocol, for leaving it out. The scripts are in
// internal/nodescript/lua.
type Rule uint8

// Rules.
const (
	None             Rule = iota
	HigherTokens          // acquire.lua: T <= seen is refused; without it, plain Redlock
	GrantsAreSeen         // acquire.lua: a grant stores seen = T
	ClaimIsNoGrant        // acquire.lua: G again only if the record's own T is the stamp
	PassNamesOwner        // acquire.lua: only the owner that is named is passed over
	ExtendNamesToken      // extend.lua: E only if the record's own T is the lease's
	RepairTokens          // extend.lua: no repair where a higher token may have been a lease's
	GrantsAreLeases       // acquire.lua, extend.lua: what is displaced may have been a lease
	LeasesEnd             // release.lua: a lease ends itself and those before it
	Tombstone             // release.lua: seen rises above what is released
	OwnTombstone          // release.lua: above what was granted here, whatever the clock
	SeenNeverFalls        // release.lua: a tombstone below seen changes nothing
	ReleaseOwnOnly        // release.lua: only the owner's own record
	ReleaseCovered        // release.lua: only what was granted to a stamp it covers
	ClaimKeepsSeen        // handoff.lua: a claim leaves seen as it is
	Quarantine            // admit.lua: a node without memory votes only on stamps drawn after that
	OneStamp              // quorum/attempt.go: only grants of the current stamp count
	MoreThanHalf          // quorum/rules.go: N/2 + 1
	FailedPassFrees       // waiting/bid.go: what was passed and not taken is released
)

// Model is the model of one configuration.
type Model struct{ Config }

// keeps reports whether a rule is in force.
func (m Model) keeps(r Rule) bool { return m.Without != r }

// need is how many nodes decide.
func (m Model) need() int {
	if m.keeps(MoreThanHalf) {
		return majority
	}
	return nodes / 2
}

// Initial implements [explore.Model]: empty nodes, and nobody asked yet.
func (m Model) Initial() State { return State{} }
