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
	name: "a bid that moves keeps its grants of the last slot", promise: nothing, file: "internal/core/bid/slots.go",
	old: "return last, m.stamp != 0 && last.To != 0", new: "return last, false",
	pkg: bidsPkg, check: "TestBidsForSlotsKeepTheirPromises", says: "somebody waits for|left behind|nobody wins|overtook",
}, {
	name: "who won leaves no queue that a late question for another slot joined", promise: nothing, file: "internal/core/bid/slots.go",
	old: "m.slots.strays = m.slots.strays.With(node)", new: "_ = m.slots.strays",
	pkg: bidsPkg, check: "TestBidsForSlotsKeepTheirPromises", says: "left behind",
}}

// slotSeed makes the comparison repeat its operations.
const slotSeed = "-seed 1"
