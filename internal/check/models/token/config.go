package token

// Config is one configuration of the model: the number of everything.
type Config struct {
	Owners   int     // attempts, at most 3
	Stamps   int     // stamps in the model, at most 3; two owners may draw the same stamp
	Rounds   int     // stamps of one owner; 0 means 1
	GiveBack bool    // an owner gives back a partial grant and continues with a higher stamp
	HandOffs bool    // nodes hand the free name to any owner that asked: a claim
	Passes   bool    // a lease is passed to another owner in the process
	AnyClock bool    // a node's clock may be so far behind that it limits a tombstone
	Above    bool    // a release after a renewal names the renewal's stamp, above the token
	Wipes    int     // how often a node loses its memory
	Without  Rule    // the rule that is left out
	Ask      Promise // the only promise to check; the zero value means all
}

// Rule is one rule of the protocol that a configuration can leave out. The scripts are in internal/core/nodescript/lua.
type Rule uint8

// These are the rules.
const (
	None             Rule = iota
	HigherTokens          // acquire.lua: T <= seen is refused; without it, plain Redlock
	GrantsAreSeen         // acquire.lua: a grant stores seen = T
	ClaimIsNoGrant        // acquire.lua: G again only if the record's own T is the stamp
	PassNamesOwner        // acquire.lua: only the named owner is passed over
	ExtendNamesToken      // extend.lua: E only if the record's own T is the lease's
	RepairTokens          // extend.lua: no repair if a higher token may have been a lease
	GrantsAreLeases       // acquire.lua, extend.lua: a displaced grant may have been a lease
	LeasesEnd             // release.lua: a lease ends itself and all earlier ones
	Tombstone             // release.lua: seen rises above the released stamps
	OwnTombstone          // release.lua: also above this node's own grant, whatever its clock
	SeenNeverFalls        // release.lua: a tombstone below seen changes nothing
	ReleaseOwnOnly        // release.lua: only the owner's own record
	ReleaseCovered        // release.lua: only grants to a stamp that it covers
	ClaimKeepsSeen        // handoff.lua: a claim does not change seen
	Quarantine            // quarantine.lua: a node without memory votes only on stamps drawn after that
	OneStamp              // quorum/attempt.go: only grants of the current stamp count
	MoreThanHalf          // quorum/validity.go: N/2 + 1
	FailedPassFrees       // waiting/bid.go: a lease that was passed and not taken is released
)

// Model is the model of one configuration.
type Model struct{ Config }

// keeps reports whether a rule is in force.
func (m Model) keeps(r Rule) bool { return m.Without != r }

// need returns the number of nodes that decide.
func (m Model) need() int {
	if m.keeps(MoreThanHalf) {
		return majority
	}
	return nodes / 2
}

// Initial implements [explore.Model]: the nodes are empty, and no owner has asked yet.
func (m Model) Initial() State { return State{} }
