package main

import "slices"

// These are the rows of the table of promises in docs/design/protocol.md.
const (
	exclusion = "at most one valid lease per name"
	tokens    = "tokens grow from lease to lease, in the order of real time"
	told      = "a lost lease is announced before another can begin"
	noHang    = "no deadlock"
	order     = "no starvation"
	nothing   = "nothing is left behind"
	mixed     = "mixed fleets"
	memory    = "a node that may have forgotten does not vote until MaxTTL + W later"
	outlives  = "any minority may be slow, hung or dead"
	fenced    = "a resource of package fence refuses an earlier holder"
	javas     = "package compat/redisson and Redisson exclude each other"
	olds      = "package compat/setnx and clients of the old SETNX pattern exclude each other"
)

const (
	lua = "internal/core/nodescript/lua/"

	redissonLua = "compat/redisson/lua/"
	redissonPkg = "compat/redisson"
	setnxLua    = "compat/setnx/lua/"
	setnxPkg    = "compat/setnx"

	e2ePkg     = "verify/e2e"
	virtualPkg = "verify/virtual"
	modelPkg   = "internal/nodemodel"
	quorumPkg  = "internal/core/quorum"
	scriptPkg  = "internal/core/nodescript"
	waitPkg    = "internal/core/waiting"
	bidsPkg    = "verify/bids"
	fanPkg     = "internal/core/fanout"
	rueidis    = "node/rueidisnode"
	goRedis    = "node/goredisnode"
	driverPkg  = "node/internal/driver"
	fencePkg   = "fence"
)

// mutants returns the whole list.
func mutants() []mutant {
	return slices.Concat(onNodes, inReaders, admissions, inClients, byHung, byVacant, lateRenewals, inMembers, inHandles, inSets, ofSlots, inShards, inSharing, ofFences, ofValues, ofJobs, inCron, ofRuns, ofReports, ofChanges, ofElections, ofRedisson, ofSetnx, byOperators, byObservers, byStrangers, ofAdapters)
}

// onNodes are weakenings of a voting node.
var onNodes = []mutant{{
	name: "scripts follow a request for an incarnation that ended", promise: memory, file: lua + "admit.lua",
	old: "return redis.error_reply('OTHERRUN ' .. field('run_id')) end", new: "return 'OTHERRUN' end",
	pkg: e2ePkg, check: "TestScriptsThatComeAfterARestartVoteForNobody", says: "two holders|scripts of the incarnation before were sent",
}, {
	name: "no tombstone", promise: nothing, file: lua + "release.lua",
	old: "local new = tomb .. sub(old, 17, 49) .. leased .. sub(old, 66)", new: "local new = seen .. sub(old, 17, 49) .. leased .. sub(old, 66)",
	pkg: e2ePkg, check: "TestAnAcquireThatArrivesAfterItsReleaseLocksNothing/rueidis", says: "nothing of ours left",
}, {
	name: "a tombstone is capped at TIME + W", promise: nothing, file: lua + "release.lua",
	old: "if highest - now > 2 * @WINDOW@ then", new: "if highest - now > @WINDOW@ then",
	pkg: modelPkg, check: "TestALateAcquireFindsItsTombstoneWhereItsClientIsAhead", says: "the server and the model differ",
}, {
	name: "a late renewal brings back what UnlockAt left", promise: nothing, file: lua + "leave.lua",
	old: "if own > leased then leased = own end", new: "",
	pkg: modelPkg, check: "TestALateCommandDoesNotBringBackWhatWasLeft", says: "the server and the model differ",
}, {
	name: "repair ignores tokens", promise: nothing, file: lua + "extend.lua",
	old: "if answer == 'R' and (leased > T or now > last or rleased and rleased > T) then", new: "if answer == 'R' and now > last then",
	pkg: e2ePkg, check: "TestARenewalThatArrivesAfterItsReleaseLocksNothing", says: "a name that was given back",
}, {
	name: "the token rule: a token equal to the highest seen", promise: tokens, file: lua + "acquire.lua",
	old: "if T <= above then", new: "if T < above then",
	pkg: modelPkg, check: "TestTombstoneFromAClockAnHourAheadDoesNotShutTheName", says: "the server and the model differ",
}, {
	name: "a minority's clock may be wrong: no window", promise: exclusion, file: lua + "acquire.lua",
	old: "local ahead = T - clock", new: "local ahead = 0",
	pkg: e2ePkg, check: "TestAWrongClockIsNoVoteForTwoHolders", says: "two holders",
}, {
	name: "no guard check", promise: memory, file: lua + "acquire.lua",
	old: "if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end", new: "if false then return 'N' end",
	pkg: e2ePkg, check: "TestANodeWhoseClockLeaptAndCameBackHasForgotten", says: "two holders",
}, {
	name: "a claim as a grant", promise: exclusion, file: lua + "acquire.lua",
	old: "if live and before == owner and sub(old, 17, 32) == T then", new: "if live and before == owner then",
	pkg: e2ePkg, check: "TestALeaseThatWasHandedOverLasts", says: "a lease that was handed over ended",
}, {
	name: "a lock is taken while another has it", promise: exclusion, file: lua + "acquire.lua",
	old: "if live and before ~= owner and before ~= wants then", new: "if false then",
	pkg: e2ePkg, check: "TestOneOfManyGetsTheLock", says: "TryLock of a held lock",
}, {
	name: "a pass by a stranger", promise: exclusion, file: lua + "acquire.lua",
	old: "if live and before ~= owner and before ~= wants then", new: "if live and before ~= owner and #wants <= 16 then",
	pkg: e2ePkg, check: "TestALockThatAnotherHasIsNotPassedOn", says: "a pass of what a stranger has",
}, {
	name: "a foreign key is overwritten", promise: mixed, file: lua + "acquire.lua",
	old: "if value and (value == '' or (value ~= before and value ~= owner and value ~= '@MARKER@')) then", new: "if false then",
	pkg: e2ePkg, check: "TestAcquiredExactlyWhenAMajorityIsFree/taken_by_a_foreign_key.*", says: `acquired with \d free nodes`,
}, {
	name: "release without a check of the owner", promise: exclusion, file: lua + "release.lua",
	old: "local mine = before == owner and T <= highest", new: "local mine = true",
	pkg: e2ePkg, check: "TestALockThatAnotherTookWhileTheNodesHadForgottenStaysTheOthers", says: "the next holder's lease ended",
}, {
	name: "a part uses a variable that its host does not declare", promise: nothing, file: lua + "acquire.lua",
	old: "local call, sub, evicted = redis.call, string.sub, nil", new: "local call, sub = redis.call, string.sub",
	pkg: "verify/scripts", check: "TestScriptsDeclareTheirVariables", says: "does not declare them",
}, {
	name: "an extend that lowers the expiry", promise: exclusion, file: lua + "extend.lua",
	old: "if until_ > expiry then", new: "if false then",
	pkg: e2ePkg, check: "TestExtendNeverMovesTheDeadlineBack", says: "moved the expiry back",
}, {
	name: "a renewal that never repairs", promise: outlives, file: lua + "extend.lua",
	old: "if answer == 'R' and (leased > T or now > last or rleased and rleased > T) then", new: "if answer == 'R' then",
	pkg: e2ePkg, check: "TestAStolenLockIsLostWithinOneRenewalAndTheThiefIsLeftAlone", says: "deleted on a minority: node",
}, {
	name: "a renewal takes a lock from a foreign client", promise: mixed, file: lua + "extend.lua",
	old: "if value and value ~= owner and value ~= '@MARKER@' and (value ~= before or value == '') then", new: "if false then",
	pkg: e2ePkg, check: "TestAStolenLockIsLostWithinOneRenewalAndTheThiefIsLeftAlone", says: "the thief's keys|not told within",
}, {
	name: "a refused repair has no place in the queue", promise: told, file: lua + "wanted.lua",
	old: "type(redis.pcall('ZADD', queue, '-' .. T, owner)) == 'number'", new: "false",
	pkg: modelPkg, check: "TestARefusedRepairIsHandedTheNameFirst", says: "the server and the model differ|want only",
}, {
	name: "a lost hand-off: popped and not told", promise: order, file: lua + "handoff.lua",
	old: "local heard = client and redis.pcall('PUBLISH',", new: "local heard = client and (function() return 1 end)('PUBLISH',",
	pkg: e2ePkg, check: "TestAReleaseWakesTheFirstInLineAtOnce", says: "nobody was woken",
}, {
	name: "one record answers for other names: an answer of any length", promise: exclusion, file: lua + "each.lua",
	old: "said = sub(said, 1, 999)", new: "",
	pkg: scriptPkg, check: "TestAnAnswerOfAnyLengthIsReadAsItself", says: "answers were read",
}, {
	name: "one record answers for other names: a record of any length", promise: exclusion, file: lua + "acquire.lua",
	old: "if #old < 65 or #old > @LONGEST@ then return 'C' end", new: "if #old < 65 then return 'C' end",
	pkg: "verify/embedded", check: "TestNoRecordAnswersForAnotherName", says: "bad is told",
}, {
	name: "answers are believed whose lengths do not come to what is there", promise: exclusion, file: "internal/core/nodescript/together.go",
	old: "if sum != len(rest) {", new: "if sum > len(rest) {",
	pkg: scriptPkg, check: "TestEachOfSeveralGetsItsAnswer", says: `a byte too many: G G G`,
}, {
	name: "the queue's order reversed", promise: order, file: lua + "handoff.lua",
	old: "redis.pcall('ZPOPMIN', queue)", new: "redis.pcall('ZPOPMAX', queue)",
	pkg: e2ePkg, check: "TestADeadHoldersLockGoesToTheFirstInLine", says: "served in the order",
}, {
	name: "dead waiters are not skipped", promise: order, file: lua + "handoff.lua",
	old: "heard > 0 then", new: "heard >= 0 then",
	pkg: e2ePkg, check: "TestSpoiltWaitersAreSkipped/dead", says: "were not skipped at once",
}}

// admissions are weakenings of the admission of nodes.
var admissions = []mutant{{
	name: "admission needs memory", promise: outlives, file: lua + "admit.lua",
	old: "drop(trust) -- a voucher is for one quarantine", new: "",
	pkg: e2ePkg, check: "TestAStatusWhereMemoryIsFullEndsNoLease", says: "OOM|the lease ended",
}, {
	name: "no quarantine", promise: memory, file: lua + "quarantine.lua",
	old: "if not r[1] or not r[8] then return lost('new') end", new: "if not r[1] or not r[8] then return ready() end",
	pkg: e2ePkg, check: "TestARestartedMajorityDoesNotVoteForMaxTTL", says: "want a quarantine of at most",
}, {
	name: "a quarantine without W", promise: memory, file: "internal/core/nodescript/config.go",
	old: "func (c Config) Quarantine() time.Duration { return c.MaxTTL + c.Window }", new: "func (c Config) Quarantine() time.Duration { return c.MaxTTL }",
	pkg: e2ePkg, check: "TestAQuarantineEndsAfterEveryLeaseThatTheNodeMayHaveForgotten", says: "before a lease that the node forgot",
}, {
	name: "a guard without an expiry", promise: exclusion, file: lua + "admit.lua",
	old: "call('SET', guard, config .. ' ' .. run, 'PX', @GUARDMS@)", new: "call('SET', guard, config .. ' ' .. run)",
	pkg: e2ePkg, check: "TestANodeWhoseClockLeaptAndCameBackHasForgotten", says: "two holders",
}, {
	name: "admission ignores the run id", promise: memory, file: lua + "quarantine.lua",
	old: "return lost('restarted')", new: "return ready()",
	pkg: e2ePkg, check: "TestANodeThatCameBackWithAnOldSnapshotHasForgotten", says: "two holders",
}, {
	name: "a quarantine begins by a request of before the loss", promise: memory, file: lua + "quarantine.lua",
	old: "if ARGV[3] ~= challenge then return asks() end", new: "",
	pkg: modelPkg, check: "TestALateAdmitDoesNotShortenAQuarantine", says: "the server and the model differ",
}, {
	name: "a repeated request writes the same challenge again", promise: memory, file: lua + "admit.lua",
	old: "redis.sha1hex(info .. now .. ARGV[4])", new: "redis.sha1hex(now .. ARGV[4])",
	pkg: modelPkg, check: "TestALateAnswerToAChallengeDoesNotShortenTheNextQuarantine", says: "the server and the model differ|the same challenge again",
}, {
	name: "a voucher counts for whatever is lost next", promise: memory, file: lua + "trust.lua",
	old: "if ARGV[3] ~= (r[2] == ARGV[2] and challenge or mark) then return 'V' end", new: "",
	pkg: modelPkg, check: "TestALateVoucherDoesNothingToALaterLoss", says: "the server and the model differ",
}, {
	name: "a durable node votes although its clock took locks", promise: memory, file: lua + "quarantine.lua",
	old: "if there == config .. ' ' .. r[1] then return votes() end", new: "if not known or there == config .. ' ' .. r[1] then return ready() end",
	pkg: modelPkg, check: "TestDurableNodeWhoseClockLeaptBeforeItRestartedHasForgotten", says: "the server and the model differ",
}, {
	name: "a durable node that booted with a wrong clock votes", promise: memory, file: lua + "quarantine.lua",
	old: "(tonumber(field('uptime_in_seconds')) or 0) < -3600", new: "false",
	pkg: modelPkg, check: "TestDurableNodeThatBootedWithAWrongClockHasForgotten", says: "the server and the model differ",
}, {
	name: "a durable node that does not sync while it rewrites votes", promise: memory, file: "internal/core/fanout/durable.go",
	old: "case idle == \"yes\":", new: "case idle == \"never\":",
	pkg: e2ePkg, check: "TestANodeThatIsNotAsDurableAsDeclaredIsRefused", says: "want \"no-appendfsync",
}, {
	name: "the guard outlives a record that a leap took", promise: memory, file: lua + "view.lua",
	old: "redis.pcall('GET', 'holdfast:node') -- before the record: see hello", new: "nil",
	pkg: e2ePkg, check: "TestNothingReadsARecordThatALeapTookBeforeTheGuard", says: "the guard is there",
}, {
	name: "a server that keeps its scripts over a restart votes", promise: memory, file: "internal/core/nodescript/greeting.go",
	old: "n >= oldest {", new: "n >= 0 {",
	pkg: "internal/core/quorum", check: "TestAServerThatKeepsScriptsOverARestartIsRefused", says: "asked for admission: true, want false",
}, {
	name: "a durable node without an AOF votes at once", promise: memory, file: lua + "quarantine.lua",
	old: "field('aof_enabled') == '1' and not promoted", new: "not promoted",
	pkg: e2ePkg, check: "TestADurableNodeWithoutAnAOFHasForgotten", says: "want a quarantine",
}, {
	name: "a promoted replica of durable nodes votes at once", promise: memory, file: lua + "quarantine.lua",
	old: "== '1' and not promoted", new: "== '1'",
	pkg: e2ePkg, check: "TestAPromotedReplicaDoesNotVoteForMaxTTL/durable=true", says: "want a quarantine",
}, {
	name: "admission ignores evicted_keys", promise: memory, file: lua + "quarantine.lua",
	old: "not copied and not left and r[6] == evicted and there", new: "not copied and not left and there",
	pkg: modelPkg, check: "TestEvictionMeansAmnesia", says: "the server and the model differ",
}, {
	name: "a record that was evicted is taken for one that never was", promise: memory, file: lua + "acquire.lua",
	old: "if evicted then return 'N' end", new: "",
	pkg: e2ePkg, check: "TestARecordThatWasEvictedAloneIsNotForgotten", says: "two holders",
}, {
	name: "the tombstone of a stranger stands in for an evicted record", promise: memory, file: lua + "release.lua",
	old: "@EVICTED@", new: "",
	pkg: modelPkg, check: "TestAnEvictedRecordIsNotTakenForOneThatNeverWas", says: "the server and the model differ",
}, {
	name: "a driver takes another master for the one before", promise: memory, file: "node/internal/driver/masters.go",
	old: "case r.master != master:", new: "case false:",
	pkg: e2ePkg, check: "TestAMasterThatWasAReplicaWhileNobodyLookedIsMetAgain", says: "a second holder",
}, {
	name: "a driver sends calls to a master that its caller has not met", promise: memory, file: "node/internal/driver/masters.go",
	old: "m.changed = refused", new: "return true",
	pkg: "node/rueidisnode", check: "TestACallThatBeganBeforeAGreetingIsNotSent", says: "a new master is met",
}, {
	name: "a call passes that began before somebody else met the master", promise: memory, file: "node/internal/driver/masters.go",
	old: "return begun == r", new: "return true",
	pkg: "node/rueidisnode", check: "TestACallThatBeganBeforeAGreetingIsNotSent", says: "the call that began before",
}, {
	name: "a client goes back to a former master", promise: memory, file: "node/internal/driver/sentinels.go",
	old: "if at.epoch < s.last.epoch && ", new: "if false && ",
	pkg: driverPkg, check: "TestAClientDoesNotGoBackToAFormerMaster", says: "the others have not heard of it: the master is",
}, {
	name: "a client stays with a master that Sentinel has replaced", promise: memory, file: "node/internal/driver/masters.go",
	old: "case r.named.Addr != named.Addr || r.named.Epoch != named.Epoch:", new: "case false:",
	pkg: driverPkg, check: "TestAMasterStandsWhileItIsNamed", says: "a former master stands",
}, {
	name: "a client stays with a master that was replaced in between", promise: memory, file: "node/internal/driver/masters.go",
	old: "case r.named.Addr != named.Addr || r.named.Epoch != named.Epoch:", new: "case r.named.Addr != named.Addr:",
	pkg: driverPkg, check: "TestALaterEpochBeginsAnotherReign", says: "begins no other reign",
}, {
	name: "a client uses a master of which the Sentinels say nothing", promise: exclusion, file: "node/internal/driver/masters.go",
	old: "return r == m.reign && steady().Sub(r.named.Asked) <= node.NamedFor", new: "return r == m.reign",
	pkg: driverPkg, check: "TestAMasterStandsWhileItIsNamed", says: "too long ago stands",
}, {
	name: "a minority of the Sentinels names the master", promise: exclusion, file: "node/internal/driver/sentinels.go",
	old: "same[a.located] > len(s.Addrs)/2 {", new: "same[a.located] > 0 {",
	pkg: driverPkg, check: "TestAClientDoesNotGoBackToAFormerMaster", says: "the master is",
}, {
	name: "a former master that Sentinel names again votes", promise: memory, file: lua + "quarantine.lua",
	old: "local renamed = epoch ~= '' and epoch ~= noted", new: "local renamed = false",
	pkg: modelPkg, check: "TestAServerThatIsNamedInALaterEpochHasForgotten", says: "the server and the model differ",
}, {
	name: "a client that has not heard of a failover gets a vote", promise: memory, file: lua + "quarantine.lua",
	old: "if renamed and epoch < noted and ARGV[7] ~= 'F' then return", new: "if false then return",
	pkg: modelPkg, check: "TestAnOlderEpochChangesNothing", says: "the server and the model differ",
}, {
	name: "a master that was left out votes", promise: memory, file: lua + "quarantine.lua",
	old: "local left = renamed or met and", new: "local left = renamed or false and",
	pkg: modelPkg, check: "TestAServerThatWasLeftOutHasForgotten", says: "the server and the model differ",
}, {
	name: "a lease outlives the last proof of its address", promise: memory, file: "internal/core/fanout/site.go",
	old: "min(at, v.holds(sent))", new: "at",
	pkg: virtualPkg, check: "TestALeaseEndsWithoutAProof", says: "relies on its lease",
}, {
	name: "a client stays with the server that an address has left", promise: memory, file: "internal/core/fanout/site.go",
	old: "id, err = v.site.node.Identify(ctx)", new: "id, err = node.Identity{Run: v.standing.Run()}, ctx.Err()",
	pkg: e2ePkg, check: "TestALeaseEndsWhenTheAddressMoves", says: "two holders",
}, {
	name: "a renewal keeps the other messages of its pipeline waiting", promise: noHang, file: "internal/core/fanout/limit.go",
	old: "s.answer(m, failed(context.DeadlineExceeded))", new: "",
	pkg: fanPkg, check: "TestNoMessageWaitsAsLongAsARenewal", says: "the answer of the hung node came after",
}, {
	name: "a proof that hangs delays a node that is back", promise: noHang, file: "internal/core/fanout/greet.go",
	old: "v.dialAgain()", new: "",
	pkg: fanPkg, check: "TestANodeThatIsBackIsProvenAtOnce", says: "want at once",
}, {
	name: "a process that others delay reads as one that computes", promise: noHang, file: "internal/core/delay/delay.go",
	old: "return processorTime()-spent.Load() >= d/2", new: "return true",
	pkg: "internal/core/delay", check: "TestOnlyAProcessThatComputesCountsAsComputing", says: "counts as computing",
}, {
	name: "a driver uses several servers of one address", promise: exclusion, file: "node/internal/driver/site.go",
	old: "back := !s.Named && slices.Contains(s.former, id.Run)", new: "back := false",
	pkg: e2ePkg, check: "TestAnAddressOfSeveralServersDoesNotVote", says: "want the cause",
}, {
	name: "a grant counts that no replica has confirmed", promise: exclusion, file: "internal/core/nodescript/reply.go",
	old: "return Answer{Verdict: Failed, Cause: Unreplicated, Err: err}", new: "return a",
	pkg: e2ePkg, check: "TestAGrantThatNoReplicaConfirmsDoesNotCount", says: "a grant without a replica",
}, {
	name: "a promotion is taken for a restart", promise: memory, file: lua + "quarantine.lua",
	old: "> 0 then return lost('promoted') end", new: "> 0 then return lost('restarted') end",
	pkg: e2ePkg, check: "TestAPromotedMasterIsFoundAndQuarantined", says: "want the cause",
}, {
	name: "admission ignores the replication id", promise: memory, file: lua + "quarantine.lua",
	old: "local copied = r[5] ~= replid and promoted", new: "local copied = false",
	pkg: e2ePkg, check: "TestAMasterThatWasAReplicaInBetweenDoesNotVoteForMaxTTL", says: "after a majority forgot the lock",
}, {
	name: "a node that evicts keys votes", promise: memory, file: lua + "admit.lua",
	old: "policy ~= 'noeviction' then", new: "false then",
	pkg: e2ePkg, check: "TestAMajorityThatEvictedKeysDoesNotVoteForMaxTTL", says: "want the policy named",
}, {
	name: "a node of another configuration counts", promise: exclusion, file: lua + "quarantine.lua",
	old: "if voucher ~= mark .. ' ' .. config then return 'M'", new: "if false then return 'M'",
	pkg: e2ePkg, check: "TestAClientOfAnotherConfigurationIsRefusedByName", says: "want a refusal",
}, {
	name: "a node counts its quarantine by a wrong clock", promise: memory, file: lua + "admit.lua",
	old: "if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end", new: "",
	pkg: e2ePkg, check: "TestANodeThatBootedWithAWrongClockStartsItsQuarantineWhenItIsRight", says: "must begin then|refused for its clock",
}, {
	name: "EVAL fallback: an unknown script is loaded, nobody admitted", promise: memory, file: "internal/core/fanout/worker.go",
	old: "\t\t\ts.voter.forgot()", new: "\t\t\ts.node.Eval(context.Background(), `return ''`, node.Call{}, s.voter.standing.Scripts().Load()...)",
	pkg: e2ePkg, check: "TestANodeThatCameBackWithAnOldSnapshotHasForgotten", says: "two holders",
}, {
	name: "one server under two addresses has two votes", promise: exclusion, file: "internal/core/fanout/homes.go",
	old: "known && h.node != node {", new: "known && h.node != node && run == \"\" {",
	pkg: e2ePkg, check: "TestAnAddressThatLaterLeadsToAnotherNodesServerLosesItsVote", says: "acquired by two addresses|refused as twins",
}}
