package clock

// Configurations that several tests begin from.
var (
	// anyClock: right clients; the clock of any node may jump. Nodes and clients agree but for
	// that, so a margin of one W, for the window, is enough.
	anyClock = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Jumps: 1, Reach: 3}

	// wrongClocks: everything is off by as much as the promise allows: the right nodes differ by
	// W, the clients' stamps are W from the one and W from the other, and one node's clock jumps.
	wrongClocks = Config{Clients: 2, TTL: 7, Margin: 4, Horizon: 9, Jumps: 1, Reach: 3, Minority: true,
		Off: [nodes]int8{0, 1, 0}, Lead: [most]int8{-1, 2}}

	// memoryLost: a node loses its memory, sits its quarantine out, and a renewal comes to it.
	memoryLost = Config{Clients: 2, TTL: 6, Margin: 4, Horizon: 11, Minority: true, Wipes: 1, Renewals: [most]int8{1}, Releases: true}

	// farAsked: everything is off by as much as the promise allows, a node loses its memory, and clients to whom nodes are
	// far, whose stamps may be further off, ask it to vote.
	farAsked = wrongClocks.but(func(c *Config) { c.Horizon, c.Wipes, c.Jumps, c.Far = 4, 1, 2, 1 })

	// askedLate: a node loses its memory, and what was sent to admit it comes late, while its clock is back. Nodes and
	// clients agree but for that.
	askedLate = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Minority: true, Wipes: 1, Jumps: 2, Reach: 3}

	// vouched: a node loses its memory twice, and an operator vouched for the first loss.
	vouched = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 7, Minority: true, Wipes: 2, Vouchers: true, Trusted: 2}

	// rising: everything is off by as much as the promise allows, a lease with a token that is ahead is given back, a
	// node loses its memory, and an operator vouches for it. Its clock is behind then and ahead when it votes again.
	rising = wrongClocks.but(func(c *Config) {
		c.TTL, c.Horizon, c.Jumps, c.Wipes, c.Lead = 9, 0, 4, 1, [most]int8{2, -1}
		c.Vouchers, c.Releases, c.Ask = true, true, TokensGrow
	})

	// bidsOn: bids give a part back and go on with a higher stamp.
	bidsOn = Config{Clients: 2, TTL: 5, Margin: 1, Horizon: 4, GiveBack: true, Releases: true, Rounds: 2}

	// passed: the lease of A is passed to B, and C bids.
	passed = Config{Clients: 3, TTL: 5, Margin: 2, Horizon: 6, Passes: true, Rounds: 2}

	// following: the clocks of any two nodes jump, and clients read them.
	following = Config{Clients: 2, TTL: 4, Margin: 1, Horizon: 10, Jumps: 2, Reach: 3, Follow: Settled, Busy: true}
)

// but returns a configuration with some of it changed.
func (c Config) but(change func(c *Config)) Config {
	change(&c)
	return c
}
