package main

// ofSlots are weakenings of semaphores.
var ofSlots = []mutant{{
	name: "a late question for a slot ends a later grant of its owner", promise: exclusion, file: lua + "acquireslot.lua",
	old: "and sub(old, 66) == owner and sub(old, 17, 32) < T and old", new: "and sub(old, 66) == owner and old",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfSlots", args: slotSeed, says: `differs after \d+ operations`,
}, {
	name: "an exchange of slots loses the claim of the other", promise: order, file: lua + "acquireslot.lua",
	old: "claim(queue, place, theirs, owner, other, sub(old, 33, 48))", new: "",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfSlots", args: slotSeed, says: `differs after \d+ operations`,
}, {
	name: "an exchange of slots is not told to the other", promise: order, file: lua + "acquireslot.lua",
	old: "tell(queue, place, (rest(theirs, owner)), other)", new: "",
	pkg: e2ePkg, check: "TestAnExchangeOfSlotsIsToldToTheOther", says: "did not hear of slot 0",
}, {
	name: "who asks for a free slot overtakes the waiters", promise: order, file: lua + "acquireslot.lua",
	old: "elseif not place and free(old) and sub(mine, 1, 16) > sub(old, 1, 16) then", new: "elseif false then",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfSlots", args: slotSeed, says: `differs after \d+ operations`,
}, {
	name: "a slot goes to a waiter that cannot use it", promise: order, file: lua + "slots.lua",
	old: "if (tonumber(sub(member, 1, 4)) or 0) <= slot then", new: "if false then",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfSlots", args: slotSeed, says: `differs after \d+ operations`,
}, {
	name: "a slot that is given back goes to nobody", promise: order, file: lua + "releaseslot.lua",
	old: "if sane and free(old) then nextslot(queue, slot, old) end", new: "",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSaysOfSlots", args: slotSeed, says: `differs after \d+ operations`,
}, {
	name: "an owner leaves the queue of slots and then fails", promise: order, file: lua + "releaseslot.lua",
	old: "n ~= slot and redis.pcall('GET', keyof(queue, n))", new: "n ~= slot and call('GET', keyof(queue, n))",
	pkg: modelPkg, check: "TestAnOwnerLeavesTheQueueWithAClaimThatCannotBeRead", says: "the server and the model differ",
}, {
	name: "the line of a semaphore is also that of a lock", promise: exclusion, file: "internal/core/nodescript/semaphore.go",
	old: "line: strconv.Itoa(s.K) + \" \" + SlotsQueueKey(s.Name)", new: "line: SlotsQueueKey(s.Name) + strconv.Itoa(s.K)",
	pkg: "internal/core/nodescript", check: "TestOnlyOneLockHasALine", says: "have the same line",
}, {
	name: "a caller may have two slots of a semaphore", promise: noHang, file: "mutex.go",
	old: "slot == (m.slots != nil) && k.Name() == m.lock.Name() {", new: "slot == (m.slots != nil) && k.Line() == m.kind().Line() {",
	pkg: e2ePkg, check: "TestACallerHasOneSlotForAnyNumberOfSlots", says: "k = 51",
}, {
	name: "a bid that takes another slot leaves the passed lease", promise: nothing, file: "internal/core/bid/round.go",
	old: "if m.Passing() && m.ofSlots() && m.slots.at != int(m.from.Slot) {", new: "if false {",
	pkg: "internal/core/bid", check: "TestABidThatTakesAnotherSlotReleasesThePassedLease", says: "is still being passed: true",
}, {
	name: "a bid that moves keeps its grants of the last slot", promise: nothing, file: "internal/core/bid/slots.go",
	old: "return last, m.stamp != 0 && last.To != 0", new: "return last, false",
	pkg: bidsPkg, check: "TestBidsForSlotsKeepTheirPromises", says: "somebody waits for|left behind|nobody wins|overtook",
}, {
	name: "who won leaves no queue that a late question for another slot joined", promise: nothing, file: "internal/core/bid/slots.go",
	old: "m.slots.strays = m.slots.strays.With(node)", new: "_ = m.slots.strays",
	pkg: "internal/core/bid", check: "TestAWinnerLeavesTheQueueOfANodeThatGranted", says: "stays in the queue",
}, {
	name: "callers with different numbers of slots wait in one line", promise: order, file: "internal/core/nodescript/semaphore.go",
	old: "strconv.Itoa(s.K) + \" \" + SlotsQueueKey(s.Name)}", new: "SlotsQueueKey(s.Name) + strconv.Itoa(0)}",
	pkg: e2ePkg, check: "TestAWaiterWithFewSlotsDoesNotBlockCallersWithMore", says: "48 of 50 slots are free",
}, {
	name: "a pass of a slot that the waiter does not use", promise: exclusion, file: "internal/core/bid/handoff.go",
	old: "m.ofSlots() && from.Slot >= m.Slots", new: "false",
	pkg: "internal/core/bid", check: "TestASlotThatABidDoesNotUseIsNotPassedToIt", says: "took a pass",
}, {
	name: "a waiter makes tries fail that want slots it cannot use", promise: order, file: lua + "acquireslot.lua",
	old: "if wanted >= k then return held", new: "if wanted > 0 then return held",
	pkg: e2ePkg, check: "TestAWaiterWithFewSlotsDoesNotFailTriesWithMore", says: "25 of 50 slots are free",
}, {
	name: "a corrupt slot ends a bid", promise: noHang, file: "internal/core/bid/slots.go",
	old: "case ans.Verdict == nodescript.Corrupt, ans.Cause == nodescript.WrongType:", new: "case false:",
	pkg: e2ePkg, check: "TestACorruptSlotDoesNotShutTheOthers", says: "3 of 4 slots are free",
}, {
	name: "a bid that a late answer moves goes on with that answer", promise: noHang, file: "internal/core/bid/answer.go",
	old: "return m.out // Draw is the last action", new: "",
	pkg: "internal/core/bid", check: "TestALateAnswerThatMovesABidAsksOnce", says: "is asked 2 times|follow Draw",
}}

// slotSeed makes the comparison repeat its operations.
const slotSeed = "-seed 1"
