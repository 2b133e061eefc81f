package main

// complete is the promise of a list.
const complete = "a list has each lock that is held all the time, once"

// forGood is the promise of an operator's release.
const forGood = "an operator's release ends a lease for good, and tokens grow"

// byOperators are weakenings of what an operator uses.
var byOperators = []mutant{{
	name: "a list leaves names to a node that forgot", promise: complete, file: "admin/lister.go",
	old: "if l.kept[i] && memory != l.memory[i] {", new: `if l.kept[i] && memory == "?" {`,
	pkg: e2ePkg, check: "TestAListIsCompleteAlthoughANodeForgets", says: "names, want 50",
}, {
	name: "a list forgets what it has listed", promise: complete, file: "admin/lister.go",
	old: "if !l.options.selects(s) || !l.listed.add(some[k].Record()) {", new: "if !l.options.selects(s) || l.listed.add(some[k].Record()) && false {",
	pkg: e2ePkg, check: "TestAListHasANameThatReachesAnotherNodeMeanwhile/a_later_node", says: "x is listed twice",
}, {
	name: "a list leaves a name to an earlier node", promise: complete, file: "admin/lister.go",
	old: "for j := len(l.alive) - 1; j > i && len(list) > 0; j-- {", new: "for j := i - 1; j >= 0 && len(list) > 0; j-- {",
	pkg: e2ePkg, check: "TestAListHasANameThatReachesAnotherNodeMeanwhile/an_earlier_node", says: "want x",
}, {
	name: "an operator's release notes no owner", promise: forGood, file: lua + "force.lua",
	old: "call('HSET', notes, owner, highest)", new: "",
	pkg: e2ePkg, check: "TestARenewalDoesNotUndoAnOperator/a_reader", says: "a renewal of the old holder",
}, {
	name: "a renewal does not look for an operator's release", promise: forGood, file: lua + "forced.lua",
	old: "if noted and T <= noted then", new: "if false then",
	pkg: e2ePkg, check: "TestARenewalDoesNotUndoAnOperator/a_reader", says: "a renewal of the old holder",
}, {
	name: "an operator's release ends later leases of the owner", promise: forGood, file: lua + "forced.lua",
	old: "if noted and T <= noted then", new: "if noted then",
	pkg: modelPkg, check: "TestALeaseAfterAnOperatorsReleaseIsRepaired/a_writer", says: "the server and the model differ",
}, {
	name: "a late release by an operator lowers the token of a note", promise: forGood, file: lua + "force.lua",
	old: "if noted and noted > highest then highest = noted end", new: "",
	pkg: modelPkg, check: "TestALeaseAfterAnOperatorsReleaseIsRepaired/a_writer", says: "the server and the model differ",
}, {
	name: "an operator's release ends a lease and then fails", promise: forGood, file: lua + "force.lua",
	old: "local noted = call('HMGET', notes, owner)[1]", new: "local noted = redis.pcall('HMGET', notes, owner)[1]",
	pkg: modelPkg, check: "TestAnOperatorsReleaseWithoutItsNoteEndsNoLease/a_writer", says: "the server and the model differ",
}, {
	name: "a late release after an operator's ends the next lease", promise: forGood, file: lua + "release.lua",
	old: "ends == above and not redis.pcall('HMGET', key .. ':forced', owner)[1])", new: "ends == above)",
	pkg: modelPkg, check: "TestARenewalAfterAnOperatorsReleaseLocksNothing/a_writer", says: "the server and the model differ",
}, {
	name: "an operator's release leaves no tombstone", promise: forGood, file: "internal/core/nodescript/call.go",
	old: `return release(l, owner, T, "0") }`, new: `return release(l, owner, 0, "0") }`,
	pkg: e2ePkg, check: "TestAnOperatorTakesLocksAway/one_node", says: "took a|lane/",
}, {
	name: "an operator takes the lock from whoever has it", promise: forGood, file: "admin/unlock.go",
	old: "return h.Offered || len(o.Owners) > 0 && !slices.Contains(o.Owners, h.Owner)", new: "return h.Offered || len(o.Owners) > 0 && !slices.Contains(o.Owners, h.Owner) && false",
	pkg: e2ePkg, check: "TestAnOperatorNamesTheHolder", says: "another owner",
}, {
	name: "a list leaves out names about which nobody answered", promise: complete, file: "admin/lister.go",
	old: "return items, errs, l.majority(ctx, errs)", new: "return items, errs, nil",
	pkg: e2ePkg, check: "TestAListLeavesOutNoNameDuringAnOutage", says: "of 10 names",
}, {
	name: "a list reads any score as a ticket", promise: complete, file: lua + "look.lua",
	old: "local from, to = '0', '9e15'", new: "local from, to = '0', '+inf'",
	pkg: e2ePkg, check: "TestASpoiltQueueHidesNoOtherName", says: "unreadable|names",
}, {
	name: "one wrong clock makes locks older", promise: complete, file: "admin/list.go",
	old: "clocks[(len(clocks)-1)/2]", new: "clocks[len(clocks)-1]",
	pkg: e2ePkg, check: "TestAWrongClockMakesNoLockOlder", says: "older than an hour",
}, {
	name: "an operator's release ends the first hundred readers", promise: forGood, file: "admin/unlock.go",
	old: "if left -= len(holders); left <= 0", new: "if left -= len(holders); true",
	pkg: e2ePkg, check: "TestAnOperatorTakesALockAwayFromManyReaders", says: "from 100 of 251",
}, {
	name: "a claim comes before the readers that have the lock", promise: forGood, file: "verdict/judge.go",
	old: "case b.Offered:", new: "case a.Offered:",
	pkg: e2ePkg, check: "TestAStatusWithAReaderAndAClaim", says: "0 readers",
}}
