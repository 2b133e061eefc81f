package token

// Config is one configuration of the model: its size, and the rules that it contains.
type Config struct {
	Owners   int     // attempts, at most 3
	Stamps   int     // stamps in the model, at most 3; two owners may draw the same stamp
	Rounds   int     // stamps of one owner; 0 means 1
	GiveBack bool    // an owner gives back a partial grant and continues with a higher stamp
	HandOffs bool    // nodes hand the free name to any owner that asked: a claim
	Passes   bool    // a lease is passed to another owner in the process
	AnyClock bool    // a node's clock may be so far behind that it limits a tombstone
	Above    bool    // a release after a renewal names the renewal's stamp, above the token
	Given    bool    // a release carries a stamp for the next owner: see given.go
	Wipes    int     // how often a node loses its memory
	OldData  bool    // it may find an older record instead, and votes again later
	Without  Rule    // the rule that is left out
	Ask      Promise // the only promise to check; the zero value means all
}

// Rule is one rule of the protocol that a configuration can leave out. The scripts are in internal/core/nodescript/lua.
type Rule uint8

// These are the rules.
const (
	None             Rule = iota
	HigherTokens          // acquire.lua: a node refuses a stamp that is not above seen; without this rule the lock is plain Redlock
	GrantsAreSeen         // acquire.lua: a grant sets seen to its stamp
	ClaimIsNoGrant        // acquire.lua: a node repeats a grant only if the token of its record is the stamp; a claim has no token
	PassNamesOwner        // acquire.lua: a pass replaces only the owner that it names
	ExtendNamesToken      // extend.lua: a node extends a record only if its token is that of the lease
	RepairTokens          // extend.lua: no repair if a later token may have been the token of a lease
	GrantsAreLeases       // acquire.lua, extend.lua: a grant that another one replaces may have been a lease
	LeasesEnd             // release.lua: the release of a lease also ends all earlier leases
	Tombstone             // release.lua: a release raises seen above its stamps
	OwnTombstone          // release.lua: a release also raises seen above this node's grant, even if the node's clock is behind
	SeenNeverFalls        // release.lua: a release with stamps below seen does not change seen
	ReleaseOwnOnly        // release.lua: a release changes only the record of its own owner
	ReleaseCovered        // release.lua: a release ends only grants whose stamp is not above its own stamp
	ClaimKeepsSeen        // handoff.lua: a claim does not change seen
	Quarantine            // quarantine.lua: a node without memory grants only stamps that were drawn after the loss
	OneStamp              // quorum/attempt.go: only grants of the current stamp count
	MoreThanHalf          // quorum/validity.go: a majority is N/2 + 1 nodes
	FailedPassFrees       // bid/handoff.go: if the next owner does not take a lease that was passed to it, the lease is released

	// These rules are about given leases.
	GivenMine       // a release gives the lease only if the node has the grant that it ends
	GivenHigher     // a node gives only a stamp above seen
	GivenAboveOwn   // the stamp is above all stamps of the releasing owner
	GivenIsSeen     // a given lease sets seen to its stamp
	GivenInWindow   // a node gives only a stamp inside its window, so no stamp from before its loss of memory
	GivenVotes      // a node that does not vote gives no lease
	GivenOneRound   // only grants of the same stamp count together
	GivenNamed      // a release also covers the stamps that were given to the owner
	GivenAskedNamed // a release also covers the owner's own stamps above the given one
	GivenDeclined   // a finished attempt that hears of a given lease releases it
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
