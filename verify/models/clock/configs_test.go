package clock

// Several tests begin with these configurations.
var (
	// anyClock has right clients, and the clock of any node may jump. Nodes and clients agree otherwise, so a margin of
	// one W, for the window, is enough.
	anyClock = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Jumps: 1, Reach: 3}

	// wrongClocks has the largest allowed errors: the right nodes differ by W, the clients' stamps are W from each of
	// them, and one node's clock jumps.
	wrongClocks = Config{Clients: 2, TTL: 7, Margin: 4, Horizon: 9, Jumps: 1, Reach: 3, Minority: true,
		Off: [nodes]int8{0, 1, 0}, Lead: [most]int8{-1, 2}}

	// late has the largest allowed errors and a renewal that comes as late as the adversary likes. The client does not
	// know that the stamp of this renewal is wrong by up to 3 W.
	late = wrongClocks.but(func(c *Config) { c.Jumps, c.Horizon, c.Renewals[0], c.Stray = 0, 10, 1, 3 })

	// ghosts has a client that gives its lease back while its renewal is on the way. A node loses its memory, and its
	// clock jumps.
	ghosts = memoryLost.but(func(c *Config) {
		c.Clients, c.Horizon, c.Jumps, c.Reach, c.Releases, c.Ghosts = 1, 10, 1, 2, true, true
	})
	wrongGhosts = ghosts.but(func(c *Config) { c.TTL, c.Horizon, c.Off, c.Lead = 7, 14, wrongClocks.Off, [most]int8{2} })

	// memoryLost has a node that loses its memory, waits for the end of its quarantine, and then gets a renewal.
	memoryLost = Config{Clients: 2, TTL: 6, Margin: 4, Horizon: 11, Minority: true, Wipes: 1, Renewals: [most]int8{1}}

	// farAsked has the largest allowed errors and a node that loses its memory. Distant clients ask it to vote. Their
	// stamps may be off by more.
	farAsked = wrongClocks.but(func(c *Config) { c.Horizon, c.Wipes, c.Jumps, c.Far = 4, 1, 2, 1 })

	// askedLate has a node that loses its memory. Its earlier requests to admit come late, while its clock is back.
	// Nodes and clients agree otherwise.
	askedLate = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Minority: true, Wipes: 1, Jumps: 2, Reach: 3}

	// vouched has a node that loses its memory twice, and an operator who vouched for the first loss.
	vouched = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Minority: true, Wipes: 2, Vouchers: true, Trusted: 2}

	// rising has the largest allowed errors. A lease whose token is ahead is released, a node loses its memory, and an
	// operator vouches for it. Its clock is behind at that time, and ahead when it votes again.
	rising = wrongClocks.but(func(c *Config) {
		c.TTL, c.Horizon, c.Jumps, c.Wipes, c.Lead = 9, 0, 4, 1, [most]int8{2, -1}
		c.Vouchers, c.Releases, c.Ask = true, true, TokensGrow
	})

	// bidsOn has attempts that give back partial grants and continue with a higher stamp.
	bidsOn = Config{Clients: 2, TTL: 5, Margin: 1, Horizon: 4, GiveBack: true, Releases: true, Rounds: 2}

	// given has right clocks. A holds the lock from the start and releases it with a stamp for B or C. B asks twice.
	given = Config{Clients: 3, TTL: 3, Margin: 1, Horizon: 2, Rounds: 2, Given: 2, Begun: true, Once: true}

	// jumpedGiven has right clocks except that of one node. A stamp for the next owner may be W older than the question
	// from which it counts, so a margin of one W is not enough.
	jumpedGiven = given.but(func(c *Config) {
		c.Rounds, c.TTL, c.Margin, c.Given, c.Horizon, c.Jumps, c.Reach, c.Minority = 1, 5, 2, 3, 2, 1, 2, true
	})

	// slowGiven has a node whose clock is behind, and clients whose stamps are behind.
	slowGiven = given.but(func(c *Config) {
		c.TTL, c.Margin, c.Given, c.Off, c.Lead = 4, 2, 3, [nodes]int8{-2}, [most]int8{-1, -1}
	})

	// wrongGiven has the largest allowed errors. The stamp that A's release carries is behind, and C's stamps are ahead.
	wrongGiven = wrongClocks.but(func(c *Config) {
		c.Clients, c.TTL, c.Horizon, c.Given, c.Begun, c.Lead = 3, 12, 2, 5, true, [most]int8{-1, 0, 2}
	})

	// passed has a lease that A passes to B, while C tries.
	passed = Config{Clients: 3, TTL: 5, Margin: 2, Horizon: 6, Passes: true, Rounds: 2}

	// following has jumping clocks on any two nodes, and clients that read them.
	following = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 10, Jumps: 2, Reach: 3, Follow: Settled, Busy: true}
)

// but returns a changed copy of a configuration.
func (c Config) but(change func(c *Config)) Config {
	change(&c)
	return c
}
