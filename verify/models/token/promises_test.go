package token

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// TestTokensGrowWithoutAnyClock visits every state of each configuration.
func TestTokensGrowWithoutAnyClock(t *testing.T) {
	most := 0
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"two bids", explore.Small, Config{Owners: 2, Stamps: 2}},
		{"two bids, passes, tombstones capped", explore.Small, Config{Owners: 2, Stamps: 2, Passes: true, AnyClock: true, Above: true}},
		{"three bids", explore.Full, Config{Owners: 3, Stamps: 3}},
		{"two bids, hand-offs, passes, tombstones capped", explore.Full, Config{Owners: 2, Stamps: 3, HandOffs: true, Passes: true, AnyClock: true, Above: true}},
		{"two bids, two stamps each, parts given back", explore.Full, Config{Owners: 2, Stamps: 2, Rounds: 2, GiveBack: true}},
		{"two bids, memory lost twice", explore.Full, Config{Owners: 2, Stamps: 3, Wipes: 2}},
		{"two bids, given leases", explore.Small, Config{Owners: 2, Stamps: 3, Given: true}},
		{"two bids, given leases, hand-offs", explore.Full, Config{Owners: 2, Stamps: 2, Given: true, HandOffs: true}},
		{"two bids, given leases, tombstones capped", explore.Full, Config{Owners: 2, Stamps: 3, Given: true, AnyClock: true, Above: true}},
		{"two bids, given leases, passes", explore.Full, Config{Owners: 2, Stamps: 3, Given: true, Passes: true}},
		{"two bids, two stamps each, given leases", explore.Full, Config{Owners: 2, Stamps: 2, Rounds: 2, Given: true}},
		{"two bids, two stamps each, given leases, parts given back", explore.Large, Config{Owners: 2, Stamps: 2, Rounds: 2, Given: true, GiveBack: true}},
		{"two bids, given leases, memory lost, older data found", explore.Full, Config{Owners: 2, Stamps: 2, Given: true, Wipes: 1, OldData: true}},
		{"two bids, three stamps, given leases, memory lost, older data found", explore.Large, Config{Owners: 2, Stamps: 3, Given: true, Wipes: 1, OldData: true}},
		{"two bids, two of three stamps each, given leases", explore.Full, Config{Owners: 2, Stamps: 3, Rounds: 2, Given: true}},
		{"three bids, two stamps, given leases", explore.Large, Config{Owners: 3, Stamps: 2, Given: true}},
		{"two bids, hand-offs, memory lost twice", explore.Large, Config{Owners: 2, Stamps: 2, HandOffs: true, Wipes: 2}},
		{"two bids, two stamps each, hand-offs, parts given back", explore.Large, Config{Owners: 2, Stamps: 2, Rounds: 2, GiveBack: true, HandOffs: true}},
		{"three bids, two stamps, hand-offs", explore.Large, Config{Owners: 3, Stamps: 2, HandOffs: true}},
		{"three bids, passes, tombstones capped", explore.Large, Config{Owners: 3, Stamps: 3, Passes: true, AnyClock: true}},
	} {
		if !c.size.Wanted() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r := explore.Holds[State](t, "token: "+c.name, Model{c.Config})
			most = max(most, r.States)
		})
	}
	if explore.Full.Wanted() && most < 1_000_000 {
		t.Errorf("the largest configuration has %d states, want a million at least", most)
	}
}

// TestEachTokenRuleIsNeeded leaves out one rule at a time: a promise must break.
func TestEachTokenRuleIsNeeded(t *testing.T) {
	two := Config{Owners: 2, Stamps: 2}
	three := Config{Owners: 3, Stamps: 3}
	for _, c := range []struct {
		name    string
		size    explore.Size
		promise Promise
		without Rule
		Config
	}{
		{"plain Redlock, no token rule", explore.Small, TokensGrow, HigherTokens, two},
		{"a grant does not raise seen", explore.Small, TokensGrow, GrantsAreSeen, two},
		{"a claim is answered as a grant", explore.Small, TokensGrow, ClaimIsNoGrant, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"a pass takes from whoever has it", explore.Small, OwnersOnly, PassNamesOwner, Config{Owners: 3, Stamps: 3, Passes: true}},
		{"extend prolongs any record of its owner, also a claim", explore.Small, LostStaysLost, ExtendNamesToken, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"repair ignores tokens", explore.Small, LostStaysLost, RepairTokens, two},
		{"a lease that ran out and was displaced is forgotten", explore.Small, LostStaysLost, GrantsAreLeases, two},
		{"a lease that was given back ends none", explore.Small, LostStaysLost, LeasesEnd, two},
		{"a release leaves no tombstone", explore.Small, NoGhost, Tombstone, two},
		{"a capped tombstone may be below what was granted", explore.Small, NoGhost, OwnTombstone, Config{Owners: 2, Stamps: 2, AnyClock: true}},
		{"a release may lower seen", explore.Small, TokensGrow, SeenNeverFalls, three},
		{"a release without owner check", explore.Small, OwnersOnly, ReleaseOwnOnly, two},
		{"a release frees grants of later stamps", explore.Small, OwnersOnly, ReleaseCovered, Config{Owners: 2, Stamps: 2, Rounds: 2, GiveBack: true}},
		{"a claim forgets what was seen", explore.Small, TokensGrow, ClaimKeepsSeen, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"a node that lost its memory votes at once", explore.Small, TokensGrow, Quarantine, Config{Owners: 2, Stamps: 2, Wipes: 1}},
		{"grants of different stamps of one attempt are added up", explore.Small, TokensGrow, OneStamp, Config{Owners: 2, Stamps: 2, Rounds: 2}},
		{"N/2 nodes are enough", explore.Small, TokensGrow, MoreThanHalf, two},
		{"a lease is given on a node that had another owner", explore.Small, OwnersOnly, GivenMine, Config{Owners: 3, Stamps: 2, Given: true}},
		{"a lease is given with a stamp below seen", explore.Small, NoGhost, GivenHigher, Config{Owners: 2, Stamps: 2, Given: true}},
		{"a given lease does not raise seen", explore.Full, TokensGrow, GivenIsSeen, Config{Owners: 3, Stamps: 2, Given: true}},
		{"a lease is given with a stamp from before the loss of memory", explore.Large, TokensGrow, GivenInWindow, Config{Owners: 3, Stamps: 2, Given: true, Wipes: 1}},
		{"a node with older data gives a lease", explore.Small, NoGhost, GivenVotes, Config{Owners: 2, Stamps: 2, Given: true, Wipes: 1, OldData: true}},
		{"given leases and other grants are added up", explore.Full, TokensGrow, GivenOneRound, Config{Owners: 3, Stamps: 3, Given: true}},
		{"a release does not cover the given stamp", explore.Small, NothingLeft, GivenNamed, Config{Owners: 2, Stamps: 2, Given: true}},
		{"a release covers only the given stamp", explore.Small, NothingLeft, GivenAskedNamed, Config{Owners: 2, Stamps: 3, Given: true}},
		{"a finished attempt does not release a given lease", explore.Small, NothingLeft, GivenDeclined, Config{Owners: 2, Stamps: 2, Given: true}},
		{"a pass that fails forgets the old owner", explore.Small, NothingLeft, FailedPassFrees, Config{Owners: 2, Stamps: 2, Passes: true}},
	} {
		if !c.size.Wanted() {
			continue
		}
		c.Config.Without, c.Config.Ask = c.without, c.promise
		t.Run(c.name, func(t *testing.T) {
			explore.Breaks[State](t, "token: "+c.name, Model{c.Config})
		})
	}
}

// TestRulesOfGivenLeasesThatOthersImply leaves out rules that the promises do not need while the others are in force. If
// one of these checks fails, the rule has become necessary: move it to the test above.
func TestRulesOfGivenLeasesThatOthersImply(t *testing.T) {
	for _, c := range []struct {
		name string
		Config
	}{
		{"the stamp may be below the stamps of the releasing owner", Config{Owners: 2, Stamps: 2, Given: true, AnyClock: true, Above: true, Without: GivenAboveOwn}},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Holds[State](t, "token: not needed here: "+c.name, Model{c.Config})
		})
	}
}
