package clock

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// TestOneHolderWhateverTheClocksDo visits every state of each configuration.
func TestOneHolderWhateverTheClocksDo(t *testing.T) {
	most := 0
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"any node's clock jumps", explore.Small, anyClock},
		{"wrong clocks everywhere, margin 4 W", explore.Small, wrongClocks},
		{"wrong clocks everywhere, the shortest TTL that a margin of 4 W allows", explore.Small, wrongClocks.but(func(c *Config) { c.TTL = 5 })},
		{"a late renewal with a wrong stamp, wrong clocks everywhere", explore.Small, late},
		{"the same, the client knows the age of its stamp", explore.Small, late.but(func(c *Config) { c.Aged = true })},
		{"the same, a clock jumps", explore.Full, late.but(func(c *Config) { c.Aged, c.Jumps = true, 1 })},
		{"a late renewal with a wrong stamp, a clock jumps twice", explore.Full, late.but(func(c *Config) { c.Jumps = 2 })},
		{"a late downgrade with a wrong stamp, a clock jumps", explore.Full, late.but(func(c *Config) { c.Turns, c.Jumps = true, 1 })},
		{"a late renewal after release and quarantine, a clock jumps", explore.Full, ghosts},
		{"the same, wrong clocks everywhere", explore.Large, wrongGhosts},
		{"memory lost, a request to admit comes late", explore.Full, askedLate},
		{"memory lost twice, a voucher comes late", explore.Full, vouched},
		{"any clocks jump, three times", explore.Full, anyClock.but(func(c *Config) { c.Jumps = 3 })},
		{"memory lost, quarantine, repair", explore.Full, memoryLost},
		{"memory lost, quarantine, repair, releases", explore.Large, memoryLost.but(func(c *Config) { c.Horizon, c.Releases = 9, true })},
		{"parts given back, releases", explore.Full, bidsOn},
		{"clients follow jumping clocks after TTL + W", explore.Full, following},
		{"clients follow jumping clocks TTL + W after they notice", explore.Large, following.but(func(c *Config) { c.Follow, c.Busy = Noticed, false })},
		{"a clock jumps, two renewals", explore.Large, anyClock.but(func(c *Config) { c.Renewals[0] = 2 })},
		{"wrong clocks everywhere, memory lost", explore.Large, wrongClocks.but(func(c *Config) { c.Horizon, c.Wipes = 12, 1 })},
		{"wrong clocks everywhere, memory lost, far clients ask", explore.Full, farAsked},
		{"wrong clocks everywhere, renewal", explore.Large, wrongClocks.but(func(c *Config) { c.Renewals[0], c.Jumps = 1, 2 })},
		{"wrong clocks everywhere, releases", explore.Large, wrongClocks.but(func(c *Config) { c.Releases = true })},
		{"memory lost and a clock jumps", explore.Large, memoryLost.but(func(c *Config) { c.Jumps, c.Reach = 1, 3 })},
		{"memory lost and a clock leaps over the quarantine and back", explore.Large, leapt},
		{"claims, a clock jumps", explore.Large, anyClock.but(func(c *Config) { c.Claim = 2 })},
		{"passes, a third client", explore.Large, passed},
		{"given leases", explore.Small, given.but(func(c *Config) { c.Rounds = 1 })},
		{"given leases, two stamps of a waiter", explore.Large, given},
		{"given leases that count from pings", explore.Small, given.but(func(c *Config) { c.Rounds, c.Pings = 1, true })},
		{"given leases that count from pings, wrong clocks everywhere", explore.Full, wrongGiven.but(func(c *Config) { c.Pings = true })},
		{"given leases, wrong clocks everywhere", explore.Full, wrongGiven.but(func(c *Config) { c.Horizon = 1 })},
		{"given leases, wrong clocks everywhere, for a longer time", explore.Large, wrongGiven},
		{"given leases, one clock and the stamps are slow", explore.Large, slowGiven},
		{"given leases, nobody holds the lock at the start", explore.Large, given.but(func(c *Config) { c.Begun, c.Rounds = false, 1 })},
		{"given leases longer than the TTL", explore.Large, given.but(func(c *Config) { c.TTL, c.Given, c.Horizon = 2, 5, 3 })},
		{"given leases, wrong stamps for the next owner", explore.Full, given.but(func(c *Config) { c.Rounds, c.Horizon, c.Stray = 1, 3, 2 })},
		{"given leases, renewal", explore.Full, given.but(func(c *Config) { c.Rounds, c.Horizon, c.Renewals[1] = 1, 4, 1 })},
		{"given leases, a clock jumps", explore.Large, jumpedGiven},
		{"given leases, claims, releases", explore.Large, given.but(func(c *Config) { c.Rounds, c.Claim, c.Releases = 1, 1, true })},
		{"given leases, parts given back", explore.Large, given.but(func(c *Config) { c.Horizon, c.GiveBack = 1, true })},
		{"given leases, memory lost", explore.Full, given.but(func(c *Config) { c.Rounds, c.TTL, c.Horizon, c.Minority, c.Wipes = 1, 2, 4, true, 1 })},
	} {
		if !c.size.Wanted() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r := explore.Holds[State](t, "clock: "+c.name, Model{c.Config})
			most = max(most, r.States)
		})
	}
	if explore.Full.Wanted() && most < 1_000_000 {
		t.Errorf("the largest configuration has %d states, want a million at least", most)
	}
}

// leapt has a node that lost its memory and whose clock leaps over the whole quarantine.
var leapt = memoryLost.but(func(c *Config) { c.TTL, c.Horizon, c.Jumps, c.Reach, c.Renewals[0] = 5, 10, 2, 6, 0 })

// TestEachTimeRuleIsNeeded leaves out one rule at a time: a promise must break.
func TestEachTimeRuleIsNeeded(t *testing.T) {
	steady := anyClock.but(func(c *Config) { c.Jumps = 0 })
	for _, c := range []struct {
		name string
		size explore.Size
		ask  Promise
		Config
	}{
		{"no margin", explore.Small, OneHolder, anyClock.but(func(c *Config) { c.Margin = 0 })},
		{"a margin of 3 W", explore.Small, OneHolder, wrongClocks.but(func(c *Config) { c.Margin = 3 })},
		{"no window for stamps", explore.Small, OneHolder, anyClock.but(func(c *Config) { c.Without = Window })},
		{"plain Redlock, no token rule", explore.Small, TokensGrow, steady.but(func(c *Config) { c.Without, c.Releases, c.Lead = HigherTokens, true, [most]int8{1, -1} })},
		{"deadline counted from the reply", explore.Small, OneHolder, steady.but(func(c *Config) { c.Without = CountsFromSending })},
		{"an acquire may be late", explore.Small, OneHolder, anyClock.but(func(c *Config) { c.Without = AcquireInTime })},
		{"a renewal's lateness does not count", explore.Full, OneHolder, late.but(func(c *Config) { c.Jumps, c.Without = 1, ExcessCounts })},
		{"the earliest node decides about a renewal's lateness", explore.Full, OneHolder, late.but(func(c *Config) { c.Jumps, c.Without = 2, LargestExcess })},
		{"a renewal's stamp may be ahead", explore.Small, NoDeadlock, late.but(func(c *Config) { c.Without = NotAhead })},
		{"a late renewal is stored after its release", explore.Small, NoGhost, ghosts.but(func(c *Config) { c.Without = RepairTokens })},
		{"a late renewal is stored after its owner's deadline", explore.Full, NoGhost, ghosts.but(func(c *Config) { c.Without = RepairBelieved })},
		{"a downgrade may lower the expiry", explore.Small, OneHolder, late.but(func(c *Config) { c.Turns, c.Jumps, c.Without = true, 1, TurnKeepsExpiry })},
		{"a renewal counts after the old deadline", explore.Small, OneHolder, steady.but(func(c *Config) { c.Without, c.Renewals[0] = OldDeadline, 1 })},
		{"answers to an earlier renewal count for a later one", explore.Full, OneHolder, anyClock.but(func(c *Config) { c.Without, c.Renewals[0] = MatchedReplies, 2 })},
		{"an extend may lower the expiry", explore.Full, OneHolder, anyClock.but(func(c *Config) { c.Without, c.Renewals[0] = ExpiryNeverFalls, 2 })},
		{"a release without owner check", explore.Full, OneHolder, bidsOn.but(func(c *Config) { c.Without = ReleaseOwnOnly })},
		{"a release frees grants of later stamps", explore.Full, OneHolder, bidsOn.but(func(c *Config) { c.Without = ReleaseCovered })},
		{"a pass takes from whoever has it", explore.Full, OneHolder, passed.but(func(c *Config) { c.Without = PassNamesOwner })},
		{"a node that lost its memory votes at once", explore.Small, OneHolder, memoryLost.but(func(c *Config) { c.Without = Quarantine })},
		{"a quarantine of W", explore.Small, OneHolder, memoryLost.but(func(c *Config) { c.Without = QuarantineTTL })},
		{"a quarantine counted by a wrong clock", explore.Full, OneHolder, leapt.but(func(c *Config) { c.Without = ConfirmedStamp })},
		{"a late request begins a quarantine", explore.Full, OneHolder, askedLate.but(func(c *Config) { c.Without = Challenged })},
		{"a far client asks by a window that is not narrowed", explore.Full, OneHolder, farAsked.but(func(c *Config) { c.Without = NarrowedByFar })},
		{"a late voucher counts for the next loss", explore.Full, OneHolder, vouched.but(func(c *Config) { c.Without = VoucherNames })},
		{"a voucher leaves 4 W", explore.Full, TokensGrow, rising.but(func(c *Config) { c.Trusted = 4 })},
		{"a voucher leaves 5 W", explore.Full, TokensGrow, rising.but(func(c *Config) { c.Trusted, c.Horizon = 5, 1 })},
		{"a given lease, a margin of 3 W", explore.Full, OneHolder, wrongGiven.but(func(c *Config) { c.Horizon, c.Shorter = 1, 1 })},
		{"a question with the stamp of a given lease is answered as a repeated one", explore.Full, OneHolder, wrongGiven.but(func(c *Config) { c.Without = GivenNoRepeat })},
		{"a given lease whose stamp is old", explore.Small, OneHolder, given.but(func(c *Config) { c.Rounds, c.TTL, c.Without = 1, 4, GivenInWindow })},
		{"a higher stamp shortens a given lease", explore.Full, OneHolder, given.but(func(c *Config) { c.TTL, c.Given, c.Horizon, c.Without = 2, 5, 3, GivenKeepsExpiry })},
		{"a given lease counts from a question after the release", explore.Full, OneHolder, given.but(func(c *Config) { c.Without = GivenSeen })},
		{"a given lease counts from the message", explore.Small, OneHolder, given.but(func(c *Config) { c.Rounds, c.Without = 1, GivenFromQuestion })},
		{"a given lease counts from the latest question", explore.Full, OneHolder, slowGiven.but(func(c *Config) { c.Without = GivenFirstQuestion })},
		{"a given lease counts after it was given back", explore.Full, OneHolder, given.but(func(c *Config) { c.Horizon, c.Once, c.GiveBack, c.Without = 0, false, true, GivenNotReturned })},
		{"a given lease is longer than a quarantine", explore.Large, OneHolder, given.but(func(c *Config) { c.Rounds, c.TTL, c.Given, c.Horizon, c.Minority, c.Wipes = 1, 2, 5, 3, true, 1 })},
		{"N/2 nodes are enough", explore.Small, OneHolder, steady.but(func(c *Config) { c.Without = MoreThanHalf })},
		{"clients follow jumping clocks at once", explore.Full, OneHolder, following.but(func(c *Config) { c.Follow = AtOnce })},
	} {
		if !c.size.Wanted() {
			continue
		}
		c.Ask = c.ask
		t.Run(c.name, func(t *testing.T) {
			explore.Breaks[State](t, "clock: "+c.name, Model{c.Config})
		})
	}
}

// TestAnIdleClientBelievesJumpedClocksAtOnce shows the limit of the promise. A majority of the clocks jumps while a
// lease is held. A client comes that is new, or has drawn no stamp for TTL + W. Nothing shows it that the clocks moved
// recently.
func TestAnIdleClientBelievesJumpedClocksAtOnce(t *testing.T) {
	if !explore.Full.Wanted() {
		t.Skip("with -models.full: more than half a million states")
	}
	explore.Breaks[State](t, "clock: limit: a majority of clocks jumps, and an idle client comes", Model{following.but(func(c *Config) { c.Busy = false })})
}

// TestWhatTheClockModelCannotShow leaves out rules that the promises do not need here: see doc.go. If one of these
// checks fails, the rule has become necessary: move it to the test above.
func TestWhatTheClockModelCannotShow(t *testing.T) {
	if !explore.Full.Wanted() {
		t.Skip("with -models.full: half a million states each")
	}
	renewing := anyClock.but(func(c *Config) { c.Renewals[0] = 2 })
	for _, c := range []struct {
		name string
		Config
	}{
		{"repair without the owner's deadline", renewing.but(func(c *Config) { c.Without = RepairBelieved })},
		{"repair without tokens", renewing.but(func(c *Config) { c.Without = RepairTokens })},
		{"a renewal whose stamp + TTL is over", late.but(func(c *Config) { c.Jumps, c.Without = 1, NotOver })},
		{"a quarantine of TTL without W", wrongClocks.but(func(c *Config) { c.Without, c.Wipes, c.Horizon = QuarantineW, 1, 12 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Holds[State](t, "clock: not needed here: "+c.name, Model{c.Config})
		})
	}
}
