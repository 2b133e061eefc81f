package main

// ofRedisson are weakenings of package compat/redisson.
var ofRedisson = []mutant{{
	name: "a hash of Java's is overwritten", promise: javas, file: redissonLua + "acquire.lua",
	old: "if type == 'none' then", new: "if type == 'none' or type == 'hash' then",
	pkg: redissonPkg, check: "TestAJavaHolderIsRespectedAndUntouched", says: "TryLock: <nil>",
}, {
	name: "a late acquire ignores the latch", promise: javas, file: redissonLua + "acquire.lua",
	old: "if call('EXISTS', KEYS[3]) == 1 then return 'C' end", new: "local _ = KEYS[3]",
	pkg: redissonPkg, check: "TestALateAcquireLocksNothing", says: "the late acquire locked",
}, {
	name: "a key of another kind is taken for a lock of Redisson", promise: javas, file: redissonLua + "acquire.lua",
	old: "if type ~= 'hash' then", new: "if false then",
	pkg: redissonPkg, check: "TestAKeyOfAnotherKindIsAClearError", says: "no majority of 1 node",
}, {
	name: "no token where RFencedLock is in use", promise: javas, file: redissonLua + "acquire.lua",
	old: "(ARGV[3] == 'present' and call('EXISTS', KEYS[2]) == 1)", new: "false",
	pkg: redissonPkg, check: "TestTokensAreDrawnFromRFencedLocksNumber", says: "token 0, want 2",
}, {
	name: "a renewal shortens the key's time", promise: javas, file: redissonLua + "renew.lua",
	old: "if call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then call('PEXPIRE', KEYS[1], ARGV[2]) end", new: "call('PEXPIRE', KEYS[1], ARGV[2])",
	pkg: redissonPkg, check: "TestARenewalNeverShortens", says: "ms after Extend by a second",
}, {
	name: "a renewal undoes a forced unlock", promise: javas, file: redissonLua + "renew.lua",
	old: "or call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'L' end", new: "and call('EXISTS', KEYS[1]) == 1 then return 'L' end",
	pkg: redissonPkg, check: "TestAForceUnlockOnAMajorityIsALoss", says: "renewal gave the lock back|Extend without a majority: <nil>",
}, {
	name: "a release wakes nobody", promise: javas, file: redissonLua + "release.lua",
	old: "call(ARGV[2], ARGV[3], '0')", new: "local _ = ARGV[2]",
	pkg: redissonPkg, check: "TestUnlockPublishesRedissonsMessage", says: "no message",
}, {
	name: "a renewal moves the deadline back", promise: javas, file: "compat/internal/holding/holding.go",
	old: "if deadline.Sub(h.deadline) > 0 {", new: "if deadline != h.deadline {",
	pkg: redissonPkg, check: "TestARenewalNeverShortens", says: "the deadline moved back",
}, {
	name: "a holder of Redisson's layout trusts it beyond the TTL", promise: javas, file: "compat/internal/holding/rules.go",
	old: "return ttl - ttl/100 - 2*time.Millisecond", new: "return ttl + ttl/2",
	pkg: redissonPkg, check: "TestALossIsAnnouncedBeforeTheKeyExpires", says: "the lease ends at .* after the key at",
}, {
	name: "a minority of Redisson's servers decides", promise: javas, file: "compat/redisson/client.go",
	old: "len(config.Nodes)/2 + 1,", new: "(len(config.Nodes) + 1) / 3,",
	pkg: redissonPkg, check: "TestAMajorityDecides", says: "TryLock: <nil>",
}, {
	name: "messages of a minority wake waiters", promise: javas, file: "compat/redisson/line.go",
	old: "if bits.OnesCount32(l.heard) < l.client.quorum {", new: "if bits.OnesCount32(l.heard) < 1 {",
	pkg: redissonPkg, check: "TestWaitersOnThreeNodesDoNotWakeEachOther", says: "not within .*: a time without scripts|scripts after 50 messages|context deadline exceeded",
}, {
	name: "a waiter beside Java only polls", promise: javas, file: "compat/redisson/wait.go",
	old: "l.listen()", new: "",
	pkg: redissonPkg, check: "TestJavasUnlockWakesUs", says: "not within .*: a subscription",
}, {
	name: "an attempt without an answer is not taken back", promise: javas, file: "compat/redisson/attempt.go",
	old: "s.verdict == granted || a.doubtful(s) {", new: "s.verdict == granted {",
	pkg: redissonPkg, check: "TestALostReplyLeavesNothing", says: "the latches are",
}, {
	name: "a name with braces gets more of them", promise: javas, file: "compat/redisson/keys.go",
	old: `if strings.Contains(name, "{") {`, new: `if strings.Contains(name, "no such text") {`,
	pkg: redissonPkg, check: "TestKeysFollowNameMapperAndBraces", says: "not within .*: the channel of a name with braces",
}, {
	name: "a handle below a released one takes its place", promise: javas, file: "compat/redisson/lease.go",
	old: "if outer != nil && outer.unlocked {", new: "if false {",
	pkg: redissonPkg, check: "TestAHandleBelowAReleasedOneIsRefused", says: "Unlock hangs|a handle below a released one",
}, {
	name: "Close does not wait for an attempt of Redisson's layout", promise: javas, file: "compat/redisson/attempt.go",
	old: "c.tasks.Do(func() { h, err = c.newAttempt(name, key).run(ctx) })", new: "h, err = c.newAttempt(name, key).run(ctx)",
	pkg: redissonPkg, check: "TestCloseReleasesAGrantThatArrivesMeanwhile", says: "left .orders",
}}
