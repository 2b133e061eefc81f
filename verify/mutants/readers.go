package main

// inReaders are weakenings of the scripts that let readers hold a lock together.
var inReaders = []mutant{{
	name: "a writer beside readers", promise: exclusion, file: lua + "acquire.lua",
	old: "if not holder and readers and readers[1] then", new: "if false then",
	pkg: modelPkg, check: "TestReadersShareAndAWriterWaits", says: "the server and the model differ",
}, {
	name: "a reader beside a writer", promise: exclusion, file: lua + "acquire-shared.lua",
	old: "if before ~= '' and now < till and not passed then", new: "if false then",
	pkg: modelPkg, check: "TestReadersShareAndAWriterWaits", says: "the server and the model differ",
}, {
	name: "a pass leaves the writer's lease to late renewals", promise: order, file: lua + "acquire-shared.lua",
	old: "if passed and own ~= '0000000000000000' then own = string.format('%016.0f', own + 1) end", new: "",
	pkg: e2ePkg, check: "TestALateRenewalOfADowngradedLeaseKeepsNoReaderOut", says: "another reader beside the downgraded lease",
}, {
	name: "a downgrade shortens a lease on which its holder relies", promise: exclusion, file: lua + "acquire-shared.lua",
	old: "if longest and longest > sub(mine, 17) then", new: "if false then",
	pkg: modelPkg, check: "TestADowngradeNeverShortensTheLease", says: "the server and the model differ",
}, {
	name: "UnlockAt leaves an earlier request of a downgrade", promise: nothing, file: lua + "leave-shared.lua",
	old: "if not has or has > T or has == '0000000000000000' then return lost() end", new: "if has ~= T then return 'L' end",
	pkg: e2ePkg, check: "TestUnlockAtEndsAnUnfinishedDowngrade", says: "UnlockAt, for the reader of the second request",
}, {
	name: "a reader's release leaves no tombstone", promise: nothing, file: lua + "release-shared.lua",
	old: "if tomb > seen then call('SETRANGE', key, '0', tomb) end", new: "",
	pkg: modelPkg, check: "TestALateRequestOfAReleasedReaderLocksNothing", says: "the server and the model differ",
}, {
	name: "a reader's late renewal comes back after its release", promise: nothing, file: lua + "extend-shared.lua",
	old: "or now > last or stamp <= seen or", new: "or now > last or",
	pkg: modelPkg, check: "TestALateRequestOfAReleasedReaderLocksNothing", says: "the server and the model differ",
}, {
	name: "a late release frees a later grant of the reader", promise: exclusion, file: lua + "release-shared.lua",
	old: "local mine, tomb = has and has <= highest, above", new: "local mine, tomb = has, above",
	pkg: modelPkg, check: "TestALateReleaseOfAnEarlierRoundFreesNoReader", says: "the server and the model differ",
}, {
	name: "a late acquire lowers a reader's token", promise: tokens, file: lua + "acquire-shared.lua",
	old: "if has and has > least then least = has end", new: "",
	pkg: modelPkg, check: "TestALateAcquireLowersNoReadersToken", says: "the server and the model differ",
}, {
	name: "a reader is repaired after a writer's lease", promise: told, file: lua + "extend-shared.lua",
	old: "elseif leased > T or now > last", new: "elseif now > last",
	pkg: modelPkg, check: "TestExpiredReadersEndWithTheNextWriter", says: "the server and the model differ",
}, {
	name: "a writer is repaired after a reader's lease", promise: told, file: lua + "extend.lua",
	old: "or now > last or rleased and rleased > T) then", new: "or now > last) then",
	pkg: modelPkg, check: "TestAWriterIsNotRepairedAfterReaders", says: "the server and the model differ",
}, {
	name: "a writer leaves expired readers", promise: told, file: lua + "acquire.lua",
	old: "for i = 1, #gone, 100 do call('HDEL', hash, unpack(gone, i, math.min(i + 99, #gone))) end", new: "",
	pkg: modelPkg, check: "TestExpiredReadersEndWithTheNextWriter", says: "the server and the model differ",
}, {
	name: "readers pass a writer that waits", promise: order, file: lua + "acquire-shared.lua",
	old: "if waits and not alive and not (passed and now < till) then", new: "if false then",
	pkg: modelPkg, check: "TestReadersComeBehindAWriterThatWaits", says: "the server and the model differ",
}, {
	name: "a reader that takes its claim lets no other in", promise: order, file: lua + "acquire-shared.lua",
	old: "handoff(seen, leased, seen, true, true)", new: "",
	pkg: modelPkg, check: "TestReadersAreLetInTogether", says: "the server and the model differ",
}, {
	name: "a node that forgot its readers votes", promise: memory, file: lua + "forgot.lua",
	old: "call('DEL', 'holdfast:node')", new: "",
	pkg: modelPkg, check: "TestEvictedReadersEndTheVote", says: "the server and the model differ",
}, {
	name: "the record of readers keeps its expiry for ever", promise: memory, file: lua + "acquire-shared.lua",
	old: "local fresh = marked and sub(rseen, 1, 8) == sub(T, 1, 8)", new: "local fresh = marked",
	pkg: modelPkg, check: "TestServerDoesWhatTheModelSays", says: "operations: keys",
}}
