package main

import "time"

// inShards are weakenings on the shards of a Redis Cluster.
var inShards = []mutant{{
	name: "a slot is admitted although its source has evicted keys", promise: memory, file: lua + "adopt.lua",
	old: "gone == r[6]", new: "true",
	pkg: "verify/e2e", check: "TestASlotOfASourceThatEvictedKeysIsQuarantined", says: "may have forgotten locks",
}, {
	name: "a slot is admitted although its source was a replica meanwhile", promise: memory, file: lua + "adopt.lua",
	old: "(data == r[5] or copy == '0')", new: "true",
	pkg: "verify/e2e", check: "TestASlotOfASourceThatWasAReplicaIsQuarantined", says: "may have forgotten locks",
}, {
	name: "a slot is admitted by a clock that is behind", promise: exclusion, file: lua + "adopt.lua",
	old: "and before - ahead <= 2 * @WINDOW@", new: "",
	pkg: "verify/e2e", check: "TestASlotIsQuarantinedWhereTheClockDiffers", says: "may have forgotten locks",
}, {
	name: "a slot is admitted by a clock that is ahead", promise: exclusion, file: lua + "adopt.lua",
	old: "if before + ahead > 2 * @WINDOW@ or ahead > most + 0 or passed + 0 > @WINDOW@ then", new: "if false then",
	pkg: "verify/e2e", check: "TestASlotIsQuarantinedWhereTheClockDiffers", says: "may have forgotten locks",
}, {
	name: "a proof that comes late ends the leases of a slot", promise: told, file: fanPkg + "/slotask.go",
	old: "case known && from.ok && (from.differs(a, answered, window) || h.doubt(slot, answered)):", new: "case known && from.ok:",
	pkg: fanPkg, check: "TestAProofThatCameLateIsAskedForAgain", says: "want Done",
}, {
	name: "clocks that differ are asked for again and again", promise: noHang, file: fanPkg + "/slotproof.go",
	old: "return a.Left+max(ahead, 0) > 2*window", new: "return ahead > 1000*window",
	pkg: fanPkg, check: "TestClocksThatDifferForCertainEndInAQuarantine", says: "want a quarantine after one proof",
}, {
	name: "a slot without an exact proof never votes", promise: noHang, file: fanPkg + "/slotask.go",
	old: "return now.Sub(first) > h.fan.config.Set.MaxTTL", new: "return now < first",
	pkg: fanPkg, check: "TestASlotThatIsDoubtedForMaxTTLIsQuarantined", says: "no quarantine after",
}, {
	name: "a slot without an exact proof loses its leases", promise: told, file: fanPkg + "/slotask.go",
	old: "return now.Sub(first) > h.fan.config.Set.MaxTTL", new: "return now > first",
	pkg: fanPkg, check: "TestASlotThatIsDoubtedForMaxTTLIsQuarantined", says: "leases may be alive",
}, {
	name: "delays of several moves add up", promise: told, file: fanPkg + "/slotproof.go",
	old: "if o.tries < exactTries {", new: "if o.tries < 0 {",
	pkg: fanPkg, check: "TestAProofThatCameLateIsAskedForAgain", says: "want a small bound first",
}, {
	name: "all slots of a crowd are adopted at once", promise: told, file: fanPkg + "/slotask.go",
	old: "const adopting = 64", new: "const adopting = 1600",
	pkg: fanPkg, check: "TestSlotsThatComeTogetherShareTheirProofs", says: "admissions at once",
}, {
	name: "a master without slots is not asked for a proof", promise: told, file: "shards.go",
	old: "for _, one := range t.Spare {", new: "for _, one := range t.Spare[:0] {",
	pkg: "verify/e2e", check: "TestAMasterWithoutSlotsProvesItsMemory", says: "the lease of",
}, {
	name: "a former master that is back counts as a spare one", promise: exclusion, file: driverPkg + "/clustershards.go",
	old: "Firm: steady().Sub(s.firmed) >= demoted", new: "Firm: steady().Sub(s.firmed) >= 0",
	pkg: driverPkg, check: "TestAMasterWithoutSlotsIsASpareOne", says: "masters that had no slots",
}, {
	name: "a minority lists a spare master", promise: exclusion, file: driverPkg + "/clustertally.go",
	old: "said[m.id] >= need {", new: "said[m.id] >= 1 {",
	pkg: driverPkg, check: "TestAMinorityListsNoWorkingMaster", says: "the working masters are",
}, {
	name: "a master that gets slots again is in the same turn", promise: exclusion, file: driverPkg + "/clustershards.go",
	old: "s.spare, s.turn = false, s.turn+1", new: "s.spare = false",
	pkg: driverPkg, check: "TestAMasterWithoutSlotsIsASpareOne", says: "or its turn is",
}, {
	name: "a value that may be missing is denied", promise: memory, file: lua + "load.lua",
	old: "@ARRIVED@", new: "",
	pkg: "verify/e2e", check: "TestAValueThatStayedBehindIsNotDenied", says: "it may be missing",
}, {
	name: "a spoilt admission votes", promise: memory, file: lua + "quarantine.lua",
	old: "if spoilt then", new: "if false then",
	pkg: "verify/e2e", check: "TestASpoiltAdmissionIsQuarantined", says: "a quarantine|granted",
}, {
	name: "a spoilt time of a move stops a slot for ever", promise: noHang, file: lua + "arrived.lua",
	old: "if came[1] and (#came[1] ~= 16", new: "if false and (#came[1] ~= 16",
	pkg: "verify/e2e", check: "TestASpoiltAdmissionIsQuarantined", says: "a quarantine|granted",
}, {
	name: "any master proves the memory of a source", promise: memory, file: "shards.go",
	old: "case is && p.Run == run:", new: "case is && func() bool { p.Run = run; return true }():",
	pkg: "verify/e2e", check: "TestASlotOfARestartedSourceIsQuarantined", says: "may have forgotten locks",
}, {
	name: "a slot without its keys is admitted", promise: memory, file: lua + "quarantine.lua",
	old: "if not r[1] or not r[8] then return lost('new') end", new: "if not r[1] or not r[8] then return votes() end",
	pkg: "verify/e2e", check: "TestASlotWithoutItsKeysIsQuarantined", says: "may have forgotten locks",
}, {
	name: "a quarantine begins anew after a move", promise: noHang, file: lua + "adopt.lua",
	old: "known, copied, r[5], r[6], r[12] = true, false, replid, evicted, now", new: "copied, r[5], r[6], r[12] = false, replid, evicted, now",
	pkg: "verify/e2e", check: "TestAQuarantineGoesOnAfterAMove", says: "the quarantine ends",
}, {
	name: "a quarantine ends with a move", promise: memory, file: lua + "adopt.lua",
	old: "if voted then", new: "if true then",
	pkg: "verify/e2e", check: "TestAQuarantineGoesOnAfterAMove", says: "the quarantine ends|may have forgotten locks",
}, {
	name: "a waiter listens to the shard that had its slot", promise: order, file: waitPkg + "/queue.go",
	old: "inbox != b.inbox {", new: "inbox == nil {",
	pkg: "verify/e2e", check: "TestAWaiterKeepsItsPlaceWhenItsSlotMoves", says: "the waiters to listen to the new shard",
}, {
	name: "a call that meets a moved slot fails", promise: told, file: fanPkg + "/slotmoves.go",
	old: "case node.Moved:", new: "case \"none\":",
	pkg: "verify/e2e", check: "TestAReleaseAfterAMoveReachesTheWaiter", says: "holdfast: unlock",
}, {
	name: "a renewal leaves a replica before it has a call", promise: noHang, file: fanPkg + "/slotmoves.go",
	old: "if !m.drawn(h.fan) {", new: "if false {",
	pkg: fanPkg, check: "TestARenewalFollowsItsSlotFromAServerThatBecameAReplica", says: "index out of range",
}, {
	name: "a former master without a run id was asked already", promise: noHang, file: fanPkg + "/slotask.go",
	old: "from.asked && from.run == a.Names", new: "from.run == a.Names",
	pkg: "verify/e2e", check: "TestASpoiltAdmissionIsQuarantined", says: "is being admitted again",
}, {
	name: "a failover refuses subscriptions", promise: told, file: fanPkg + "/subscriptions.go",
	old: " && !changed(err) && node.Code(err) != node.ClusterDown", new: "",
	pkg: fanPkg, check: "TestAFailoverIsNoRefusalOfSubscriptions", says: "the log is",
}, {
	name: "the order of servers in a set counts", promise: told, file: "sharded.go",
	old: "slices.Sort(addrs)", new: "_ = addrs",
	pkg: ".", check: "TestTheOrderOfServersInASetDoesNotCount", says: "in another order",
}, {
	name: "the sweep of a shard is not repeated", promise: noHang, file: fanPkg + "/slotsweep.go",
	old: "for range mostSweeps {", new: "for range 1 {",
	pkg: "verify/e2e", check: "TestTheQuarantinesOfANewClusterBeginTogether", says: "the quarantine of a slot that nobody has asked for", within: 3 * time.Minute,
}, {
	name: "questions about a semaphore name a key of another slot", promise: told, file: scriptPkg + "/slot.go",
	old: "return slotsHead(name) + \"none\" + recordTail", new: "return slotsHead(\"\") + \"none\" + recordTail",
	pkg: "verify/e2e", check: "TestASemaphoreOnARedisClusterHasKHolders", says: "the status has 0 holders",
}, {
	name: "the guard of a slot is not examined", promise: memory, file: scriptPkg + "/slots.go",
	old: "\"'\"+GuardKey+\"'\", \"NODE\", ", new: "",
	pkg: "verify/e2e", check: "TestFLUSHALLOnAShardQuarantinesThatShardOnly", says: "_test.go:",
}, {
	name: "a name without a record is granted in a slot that came lately", promise: exclusion, file: lua + "arrived.lua",
	old: "if rest > 0 and", new: "if false and",
	pkg: "verify/e2e", check: "TestANameWhoseRecordStayedBehindIsNotGranted", says: "a second holder got the lock",
}, {
	name: "a slot that moves on is settled, whatever it has lost", promise: exclusion, file: lua + "adopt.lua",
	old: "settled = settled and not (lately and r[15] ~= '1')", new: "",
	pkg: "verify/e2e", check: "TestASlotThatLostWritesAndMovesOnGrantsNothing", says: "second holder",
}, {
	name: "a master that was promoted long ago is not settled", promise: told, file: lua + "adopt.lua",
	old: "settled = settled or reigns", new: "",
	pkg: "verify/e2e", check: "TestAMasterThatWasPromotedLongAgoGrantsNamesOfASlotThatComes", says: "a settled server", within: 3 * time.Minute,
}, {
	name: "a sweep ends the guards of slots that came", promise: told, file: lua + "adopt.lua",
	old: "or not KEYS[1] and from ~= forsaken then", new: "then",
	pkg: "verify/e2e", check: "TestASweepSparesTheSlotsThatCame", says: "the lease is lost",
}, {
	name: "a slot is not asked for its admission in a new turn", promise: memory, file: fanPkg + "/hashslots.go",
	old: "s == nil && h.asked[slot/64]>>(slot%64)&1 != 0:", new: "s == nil:",
	pkg: "verify/e2e", check: "TestAMasterThatWasAReplicaForAMomentIsQuarantined", says: "_test.go:",
}, {
	name: "a call goes to a slot whose admission failed", promise: memory, file: fanPkg + "/hashslots.go",
	old: "s == nil && h.asked[slot/64]>>(slot%64)&1 != 0:", new: "s == nil && h.asked[slot/64]>>(slot%64)&1 != 0, s != nil && now >= s.until:",
	pkg: fanPkg, check: "TestACallWaitsForAnAdmissionThatFailedBefore", says: "a call after the refusal",
}, {
	name: "a call for a slot of another shard begins a turn", promise: told, file: fanPkg + "/hashslots.go",
	old: "turn = h.turn", new: "turn = h.turn + 1",
	pkg: fanPkg, check: "TestACallForASlotOfAnotherShardLeavesTheOthers", says: "x again",
}, {
	name: "a slot that left and came back is not asked for its admission", promise: memory, file: fanPkg + "/slotmoves.go",
	old: "h.asked[slot/64] &^= 1 << (slot % 64)", new: "_ = slot",
	pkg: fanPkg, check: "TestACallForASlotOfAnotherShardLeavesTheOthers", says: "y, which came back",
}, {
	name: "a slot waits for the word of a master that has failed", promise: noHang, file: "shards.go",
	old: "one.Master.State != node.Fail", new: "true",
	pkg: "verify/e2e", check: "TestASlotWhoseFormerMasterHasFailedIsQuarantined", says: "a quarantine",
}, {
	name: "a lease that moved is not renewed at once", promise: told, file: "internal/core/renewal/keeper.go",
	old: "		k.moved()", new: "		_ = k.moved",
	pkg: "internal/core/renewal", check: "TestALeaseThatMovedIsRenewedAtOnce", says: "want only the second",
}, {
	name: "leases that stayed are renewed after a move, too", promise: told, file: "internal/core/renewal/follow.go",
	old: "if f == e.grant.Fan || e.end != nil", new: "if e.end != nil",
	pkg: "internal/core/renewal", check: "TestALeaseThatMovedIsRenewedAtOnce", says: "want only the second",
}, {
	name: "a server that took over is not greeted before its slots are admitted", promise: noHang, file: fanPkg + "/slotask.go",
	old: "if node.Code(r.Err) == nodescript.OtherRun {", new: "if false {",
	pkg: fanPkg, check: "TestAnotherServerIsGreetedBeforeASlotIsAdmitted", says: "the next call",
}, {
	name: "a release makes a record in a slot that came lately", promise: exclusion, file: lua + "missing.lua",
	old: "lately = came[2] ~= '@RUN@' or rest > 0", new: "lately = false and rest > 0",
	pkg: "verify/e2e", check: "TestAReleaseMakesNoRecordInASlotThatCameLately", says: "holder",
}, {
	name: "a release makes a record in a slot that is not admitted yet", promise: exclusion, file: lua + "missing.lua",
	old: "came[2] ~= '@RUN@' or rest", new: "rest",
	pkg: "verify/e2e", check: "TestAClaimMakesNoRecordInASlotThatCameLately", says: "two holders",
}, {
	name: "a slot that seems to come later grants names", promise: exclusion, file: lua + "arrived.lua",
	old: "rest <= @NAMED@ + 2 * @WINDOW@", new: "rest <= @NAMED@",
	pkg: "verify/e2e", check: "TestAClockThatGoesBackGrantsNoNameWithoutARecord", says: "second holder",
}, {
	name: "a renewal hides a missing record in a slot that came lately", promise: exclusion, file: lua + "extend.lua",
	old: "if lately then call('HSET'", new: "if false then call('HSET'",
	pkg: "verify/e2e", check: "TestARenewalHidesNoMissingRecordInASlotThatCameLately", says: "second holder",
}, {
	name: "a slot whose admission has left grants names", promise: exclusion, file: lua + "arrived.lua",
	old: "call('HMGET'", new: "redis.pcall('HMGET'",
	pkg: "verify/e2e", check: "TestASlotWhoseAdmissionHasLeftGrantsNothing", says: "the name was granted",
}, {
	name: "another replication id is always a copy", promise: told, file: lua + "adopt.lua",
	old: "and r[14] ~= copies[2]", new: "",
	pkg: "verify/e2e", check: "TestAMasterThatChangesItsReplicationIDHasKeptItsMemory", says: "want the holder",
}, {
	name: "the admission of a slot that is being moved writes to keys that it does not have", promise: told, file: lua + "admit.lua",
	old: "if not @SHARDED@ then return", new: "do return",
	pkg: "verify/e2e", check: "TestAnOpenSlotIsAdmitted", says: "want the holder",
}, {
	name: "a slot that came hides the quarantines of the others", promise: told, file: fanPkg + "/slotvote.go",
	old: "if sum.Quarantined > 0 {", new: "if len(sum.come) == 0 && sum.Quarantined > 0 {",
	pkg: "verify/e2e", check: "TestASweepSparesTheSlotsThatCame", says: "shards have slots in quarantine",
}, {
	name: "a replica of a forgotten master voids an answer", promise: noHang, file: driverPkg + "/clusterview.go",
	old: "m.master != nobody && !isID(m.master)", new: "!isID(m.master)",
	pkg: driverPkg, check: "TestAReplicaOfAForgottenMasterVoidsNoAnswer", says: "a replica without a master",
}, {
	name: "a cluster without hash slots has a shard", promise: told, file: "shards.go",
	old: "t == nil || len(t.Shards) == 0", new: "t == nil",
	pkg: "verify/e2e", check: "TestAClusterWithoutHashSlotsRefusesEveryCall", says: "index out of range",
}, {
	name: "names lose their sets with the hash slots", promise: told, file: "shards.go",
	old: "return h.last.Load()", new: "return h.cluster.Topology()",
	pkg: "verify/e2e", check: "TestAClusterThatLosesItsHashSlotsEndsNoProcess", says: "index out of range",
}, {
	name: "a renewal deletes its record first", promise: exclusion, file: lua + "extend.lua",
	old: "call('PEXPIRE', key, '@STAYMS@', 'GT')", new: "call('DEL', key)",
	pkg: "verify/e2e", check: "TestARenewalInASlotThatIsBeingMovedKeepsItsRecord", says: "two holders|was lost",
}, {
	name: "a reader's renewal deletes its record first", promise: exclusion, file: lua + "extend-shared.lua",
	old: "call('PEXPIRE', key, '@STAYMS@', 'GT')", new: "call('DEL', key)",
	pkg: "verify/scripts", check: "TestNoScriptWritesAKeyThatItHasDeleted", says: "extend-shared: line",
}, {
	name: "a writer deletes the hash of readers first", promise: memory, file: lua + "acquire.lua",
	old: "call('PEXPIRE', hash, '@STAYMS@')", new: "call('DEL', hash)",
	pkg: "verify/e2e", check: "TestAWriterInASlotThatIsBeingMovedKeepsTheGuard", says: "was lost|a writer after the move",
}, {
	name: "a turn goes on after two failovers between two looks", promise: exclusion, file: "node/internal/driver/clustershard.go",
	old: ", s.changed(epoch, data):", new: ":",
	pkg: "node/internal/driver", check: "TestATurnEndsWhenItsMasterWasAReplica", says: "a higher epoch without a replication id: the turn was",
}, {
	name: "a turn ends at each move of a slot", promise: noHang, file: "node/internal/driver/clustershard.go",
	old: "if data != \"\" && s.data != \"\" {", new: "if false {",
	pkg: "node/internal/driver", check: "TestATurnEndsWhenItsMasterWasAReplica", says: "a slot has come: the turn was",
}, {
	name: "a replication id is asked for once", promise: exclusion, file: "node/internal/driver/witness.go",
	old: "case w.data == \"\" || w.epoch != v.epoch:", new: "case w.data == \"\":",
	pkg: "node/internal/driver", check: "TestATurnEndsWhenItsMasterWasAReplica", says: "two failovers: the turn was",
}, {
	name: "a shard that is gone keeps its set", promise: noHang, file: "shards.go",
	old: "h.parting.Go(func() { h.client.closeSet(s) })", new: "_ = s",
	pkg: ".", check: "TestAShardThatIsGoneLeavesNothingBehind", says: "closed 0 times, and the other one 0 times; want 1 and 0",
}, {
	name: "a shard that may come back loses its set", promise: noHang, file: "shards.go",
	old: "slices.Contains(t.Former, n) || ", new: "",
	pkg: ".", check: "TestAShardThatIsGoneLeavesNothingBehind", says: "the node of a shard that may come back is closed",
}, {
	name: "an operator cannot replace the settings of hash slots", promise: told, file: lua + "quarantine.lua",
	old: "(forsaken or '') .. ' ' .. config", new: "''",
	pkg: "verify/e2e", check: "TestTrustReplacesTheSettingsOfACluster", says: "after Trust: ",
}, {
	name: "Close waits for a sweep", promise: noHang, file: fanPkg + "/slotsweep.go",
	old: "case <-h.fan.hear.Done(): // a sweep", new: "case <-h.fan.ctx.Done(): // a sweep",
	pkg: fanPkg, check: "TestCloseWaitsForNoSweep", says: "Close took ",
}}
