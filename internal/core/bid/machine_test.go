package bid

import "testing"

// Each story is a rule of a bid.
var rules = []struct{ name, story string }{
	{"a bid that asked nobody has nothing to give back", `
		end             :
		end             :
		is              : over s0`},
	{"the first round begins once", `
		pass s7         : pass old 012 s1
		begin           :
		join            :
		is              : asking undecided passing s1`},
	{"a bid that is over begins nothing", `
		join            : queue 012 s1
		end             : withdraw abort 012 s1 10.25s
		ask             :
		handed 1        :
		heard 1         :
		pass s7         :
		first           : false
		wanted 1 s1     :
		end             :
		outcome         : contended,few`},
	{"a stamp that cannot be drawn fails the round", `
		nostamp         :
		begin           : wake rest
		outcome         : unavailable,few,error
		again 1s        : queue 012 s1
		is              : asking undecided s1`},
	{"a pass without a stamp is refused", `
		nostamp         :
		pass s7         : wake rest
		is              : s0
		next            : unavailable,few,error 1s`},
	{"one pass at a time", `
		pass s7         : pass old 012 s1
		pass s8         :
		first           : true
		wanted 0 s1     :`},
	{"a pass that fails releases the remains, and the bid waits on", `
		pass s7         : pass old 012 s1
		01 held older   : release old 012 s7 5.25s wake
		is              : s1`},
	{"a winner releases the remains of the passed lease where it did not take it over", `
		pass s7         : pass old 012 s1
		0 failed        :
		12 granted      : wake rest
		next            : quit 0 1m0s release old 0 s7 5.25s won s1 12 8.898s passes=4`},
	{"a late answer after a pass", `
		pass s7         : pass old 012 s1
		12 granted      : wake
		outcome         : won s1 12 8.898s passes=4 missing
		0 unsent        : release old 0 s7 5.25s wake rest
		is              : passing over got s1 12`},
	{"after the end of the lease a late place is left, and the lease is not released again", `
		join            : queue 012 s1
		01 granted waiting : wake
		next            : won s1 01 8.898s others missing
		ended           :
		2 held older rank=1 : abort 2 s0 1m0s wake rest`},
	{"before the end of the lease a late place is left", `
		join            : queue 012 s1
		01 granted      : wake
		next            : won s1 01 8.898s missing
		2 held older rank=1 : quit 2 1m0s wake rest`},
	{"a majority that comes after the deadline is no lease", `
		begin           : queue 012 s1
		+9s 01 granted  : wake
		outcome         : unavailable
		next            : unavailable ~12m2s part
		end             : withdraw abort 012 s1 10.25s`},
	{"an attempt without a place releases only where it may have something", `
		begin           : queue 012 s1
		0 granted       :
		1 held older    :
		2 unsent        : wake rest
		finish          : abort 012 s1 10.25s`},
	{"a higher stamp follows a token that a node has seen, three times in a row", `
		join            : queue 012 s1
		01 stale=9      : raise=9 raise=9 withdraw queue 012 s2
		2 stale=9       : raise=9
		01 offclock     : withdraw queue 012 s3
		01 offclock     : wake
		next            : unavailable,few 1s`},
	{"only a grant of the current stamp counts", `
		join            : queue 012 s1
		handed 1        : withdraw queue 1 s2 wake
		0#1 granted     : queue 0 s2
		2#1 held older  :
		01 granted      : wake
		next            : won s2 01 8.898s waited missing`},
	{"hand-offs of one release share a stamp for half a window", `
		join            : queue 012 s1
		012 held older rank=0 : wake rest
		handed 0        : withdraw queue 0 s2 wake
		next            : 20ms
		handed 1        : queue 1 s2
		+125ms handed 2 : withdraw queue 2 s3 wake`},
	{"a question that finds a claim for its own bid is a hand-off", `
		join            : queue 012 s1
		0 claim mine    : withdraw queue 0 s2 wake
		0 granted       :
		next            : 20ms
		1#1 held older  :
		next            : 20ms`},
	{"a round after a hand-off that fails is followed soon", `
		join            : queue 012 s1
		012 held older  : wake rest
		next            : held 1s
		handed 0        : withdraw queue 0 s2 wake
		0 held younger  :
		next            : 20ms
		handed 1        : queue 1 s2
		1 held younger  : wake rest
		next            : ~4ms
		next            : 1s`},
	{"an open round with all nodes is awaited", `
		join            : queue 012 s1
		0 held older    :
		next            : 1s`},
	{"nobody hands over a foreign lock", `
		join            : queue 012 s1
		012 held foreign : wake rest
		next            : held ~300ms`},
	{"a foreign key on one node is enough", `
		join            : queue 012 s1
		0 held foreign  :
		1 held older    : wake
		2 unsent        : rest
		next            : held ~300ms`},
	{"a waiter asks soon after the end of the lease", `
		join            : queue 012 s1
		012 held older left=90ms : wake rest
		next            : held 90ms left`},
	{"a node that was given back twice is spared until another is free", `
		join            : queue 012 s1
		0 granted       :
		wanted 0 s1     : wake abort 0 s1 10.25s
		12 held younger : rest
		again 1s        : withdraw queue 012 s2
		0 granted       :
		wanted 0 s2     : wake abort 0 s2 10.25s
		12 held younger : rest
		again 1s        : withdraw queue 12 s3
		1 granted       : queue 0 s3
		0 granted       : wake
		next            : won s3 01 8.898s missing`},
	{"a spared node that was asked for another reason is not asked twice", `
		join            : queue 012 s1
		0 granted       :
		wanted 0 s1     : wake abort 0 s1 10.25s
		again 1s        : withdraw queue 012 s2
		0 granted       :
		wanted 0 s2     : wake abort 0 s2 10.25s
		again 1s        : withdraw queue 12 s3
		handed 0        : queue 0 s3
		1 granted       :
		+31s again 1s   :`},
	{"a spared node is asked again after half of MaxTTL", `
		join            : queue 012 s1
		0 granted       :
		wanted 0 s1     : wake abort 0 s1 10.25s
		again 1s        : withdraw queue 012 s2
		0 granted       :
		wanted 0 s2     : wake abort 0 s2 10.25s
		+30s again 1s   : withdraw queue 012 s3`},
	{"a holder wants one of two grants", `
		join            : queue 012 s1
		0 granted       :
		wanted 1 s2     :
		wanted 1 s1     : wake abort 1 s1 10.25s
		is              : s1 0
		wanted 0 s1     : abort 0 s1 10.25s`},
	{"a waiter that asks often lets a minority be the last word for a second", `
		join            : queue 012 s1
		0 held older    :
		1 unsent        : wake
		again 100ms     :
		+1s again 100ms : withdraw queue 012 s2`},
	{"a part that a holder of the same wait has is kept", `
		join            : queue 012 s1
		0 granted       :
		12 held past    : wake rest
		next            : held ~20ms
		+20ms again 1s  : withdraw queue 012 s2
		0 granted       :
		12 held past    : wake rest
		next            : held ~204ms part`},
}

// A bid follows its rules.
func TestRulesOfABid(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { tell(t, r.story) })
	}
}

// An attempt without a ticket joins no queue. So it gives back only grants that it may have.
func TestAnAttemptWithoutATicketStandsInNoQueue(t *testing.T) {
	newStory(t, 3, 0).tell(`
		begin           : acquire 012 s1
		0 granted       :
		1 held older    :
		end             : withdraw abort 02 s1 10.25s
		2 failed        : abort 2 s1 10.25s wake rest`)
}
