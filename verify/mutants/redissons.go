package main

// ofRedisson are weakenings of package compat/redisson.
var ofRedisson = []mutant{{
	name: "a hash of Java's is overwritten", promise: javas, file: redissonLua + "acquire.lua",
	old: "if type == 'none' or (mode", new: "if type == 'none' or type == 'hash' or (mode",
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
	old: "if call('PTTL', key) < tonumber(ARGV[2]) then call('PEXPIRE', key, ARGV[2]) end", new: "call('PEXPIRE', key, ARGV[2])",
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
	old: "l.listen(refused)", new: "",
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
	old: "c.tasks.Do(func() { h, err = c.newAttempt(w).run(ctx) })", new: "h, err = c.newAttempt(w).run(ctx)",
	pkg: redissonPkg, check: "TestCloseReleasesAGrantThatArrivesMeanwhile", says: "left .orders",
}, {
	name: "RReadWriteLock does not see a lease", promise: javas, file: redissonLua + "acquire.lua",
	old: "call('HSET', KEYS[1], 'mode', ARGV[4], ARGV[1], 1)", new: "call('HSET', KEYS[1], ARGV[1], 1)",
	pkg: redissonPkg, check: "TestALeaseKeepsJavasReadWriteLockOut", says: "java's tryLock says <nil> as a reader",
}, {
	name: "a reader of Redisson's layout comes beside a writer", promise: javas, file: redissonLua + "acquire.lua",
	old: "(mode == 'read' and ARGV[4] == 'read')", new: "(mode and ARGV[4] == 'read')",
	pkg: redissonPkg, check: "TestALeaseKeepsJavasReadWriteLockOut", says: "<nil>, want held in mode .write",
}, {
	name: "a mode without holder is a holder", promise: javas, file: redissonLua + "acquire.lua",
	old: "if mode and call('HLEN', KEYS[1]) == 1 then", new: "if false then",
	pkg: redissonPkg, check: "TestAModeWithoutHolderBlocksNobody", says: "held, as a reader",
}, {
	name: "a renewal forgets the keys of a reader", promise: javas, file: redissonLua + "renew.lua",
	old: "if ARGV[4] == 'read' then", new: "if false then",
	pkg: redissonPkg, check: "TestAReaderHasTheLayoutOfReadWriteLock", says: "rwlock_timeout:2 expires in -2 ms",
}, {
	name: "a release leaves the mode", promise: javas, file: redissonLua + "release.lua",
	old: "if call('HLEN', KEYS[1]) > (mode and 1 or 0) then", new: "if call('HLEN', KEYS[1]) > 0 then",
	pkg: redissonPkg, check: "TestALeaseHasRedissonsLayout", says: "not within .*: no key and no subscription",
}, {
	name: "the first reader that leaves frees the lock", promise: javas, file: redissonLua + "release.lua",
	old: "if last > 0 then", new: "if false then",
	pkg: redissonPkg, check: "TestReadersOfGoAndJavaShareTheLock", says: "after our unlock the hash is",
}, {
	name: "a dead reader keeps the lock", promise: javas, file: redissonLua + "release.lua",
	old: "if mode ~= 'read' then return 'R' end", new: "do return 'R' end",
	pkg: redissonPkg, check: "TestADeadReaderOfJavaIsNoHolder", says: "with a reader of 10 s the lock expires in",
}, {
	name: "a release asks for each reader", promise: javas, file: redissonLua + "release.lua",
	old: "if asked > 10000 then return 'R' end", new: "local _ = asked",
	pkg: redissonPkg, check: "TestAReleaseAsksForALimitedNumberOfReaders", says: "the release asked 100000 times",
}, {
	name: "a release tells RReadWriteLock nothing", promise: javas, file: redissonLua + "release.lua",
	old: "call(ARGV[2], ARGV[4], ARGV[6] == 'read' and '0' or '1')", new: "local _ = ARGV[4]",
	pkg: redissonPkg, check: "TestUnlockTellsTheWaitersOfAllKinds", says: "only these messages",
}, {
	name: "a release tells RFairLock nothing", promise: javas, file: redissonLua + "release.lua",
	old: "in ipairs(queue) do", new: "in ipairs({}) do",
	pkg: redissonPkg, check: "TestUnlockTellsTheWaitersOfAllKinds", says: "only these messages",
}, {
	name: "a waiter does not hear RReadWriteLock", promise: javas, file: "compat/redisson/line.go",
	old: "l.hear(1, keysOf(l.key).rwChannel)", new: "",
	pkg: redissonPkg, check: "TestJavasReadWriteUnlockWakesUs", says: "not within .*: a subscription",
}, {
	name: "a reader of Redisson's layout becomes a writer", promise: javas, file: "compat/redisson/mutex.go",
	old: "if outer.hold.shared && !w.shared {", new: "if false {",
	pkg: redissonPkg, check: "TestAReaderHasTheLayoutOfReadWriteLock", says: "a reader becomes a writer: <nil>",
}}
