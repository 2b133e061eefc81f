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
		promise Promise
		without Rule
		Config
	}{
		{"plain Redlock, no token rule", TokensGrow, HigherTokens, two},
		{"a grant does not raise seen", TokensGrow, GrantsAreSeen, two},
		{"a claim is answered as a grant", TokensGrow, ClaimIsNoGrant, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"a pass takes from whoever has it", OwnersOnly, PassNamesOwner, Config{Owners: 3, Stamps: 3, Passes: true}},
		{"extend prolongs any record of its owner, also a claim", LostStaysLost, ExtendNamesToken, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"repair ignores tokens", LostStaysLost, RepairTokens, two},
		{"a lease that ran out and was displaced is forgotten", LostStaysLost, GrantsAreLeases, two},
		{"a lease that was given back ends none", LostStaysLost, LeasesEnd, two},
		{"a release leaves no tombstone", NoGhost, Tombstone, two},
		{"a capped tombstone may be below what was granted", NoGhost, OwnTombstone, Config{Owners: 2, Stamps: 2, AnyClock: true}},
		{"a release may lower seen", TokensGrow, SeenNeverFalls, three},
		{"a release without owner check", OwnersOnly, ReleaseOwnOnly, two},
		{"a release frees grants of later stamps", OwnersOnly, ReleaseCovered, Config{Owners: 2, Stamps: 2, Rounds: 2, GiveBack: true}},
		{"a claim forgets what was seen", TokensGrow, ClaimKeepsSeen, Config{Owners: 2, Stamps: 2, HandOffs: true}},
		{"a node that lost its memory votes at once", TokensGrow, Quarantine, Config{Owners: 2, Stamps: 2, Wipes: 1}},
		{"grants of different stamps of one attempt are added up", TokensGrow, OneStamp, Config{Owners: 2, Stamps: 2, Rounds: 2}},
		{"N/2 nodes are enough", TokensGrow, MoreThanHalf, two},
		{"a pass that fails forgets the old owner", NothingLeft, FailedPassFrees, Config{Owners: 2, Stamps: 2, Passes: true}},
	} {
		c.Config.Without, c.Config.Ask = c.without, c.promise
		t.Run(c.name, func(t *testing.T) {
			explore.Breaks[State](t, "token: "+c.name, Model{c.Config})
		})
	}
}
