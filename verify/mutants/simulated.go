package main

import "slices"

// simulated is a weakening that the simulation must find by itself, without a named check. The nodes of the simulation
// are those of internal/nodemodel. So weakenings of scripts are made there.
type simulated struct {
	name, file, old, new string // the same as the name of a mutant

	// unseen says why the simulation does not find it, and what does; "" if the simulation finds it.
	unseen string
	// attempts is the number of attempts for a rare one; 0: the usual number.
	attempts int
}

// allInSimulation returns the whole list.
func allInSimulation() []simulated {
	return slices.Concat(inSimulation, lateInSimulation, kindsInSimulation, electionsInSimulation, forcedInSimulation, vacantInSimulation)
}

// inSimulation is the list of weakenings of locks, also of readers.
var inSimulation = []simulated{{
	name: "belief without the 4 W", file: "internal/core/quorum/validity.go",
	old: "return ttl - 4*window - ttl/100 - 2*time.Millisecond", new: "return ttl - ttl/100 - 2*time.Millisecond",
}, {
	name: "belief with 1 W instead of 4", file: "internal/core/quorum/validity.go",
	old: "ttl - 4*window", new: "ttl - window",
}, {
	name: "belief with 2 W instead of 4", file: "internal/core/quorum/validity.go",
	old: "ttl - 4*window", new: "ttl - 2*window",
}, {
	name: "belief with 3 W instead of 4", file: "internal/core/quorum/validity.go",
	old: "ttl - 4*window", new: "ttl - 3*window",
	unseen: "a fourth W is needed where right clocks lie as badly as in the clock model's counterexample; that finds it",
}, {
	name: "belief without the hundredth of the TTL and the 2 ms", file: "internal/core/quorum/validity.go",
	old: "- 4*window - ttl/100 - 2*time.Millisecond", new: "- 4*window",
	unseen: "they are for what is left when all 4 W are used up",
}, {
	name: "the deadline of a grant counts from the answer", file: "internal/core/bid/lease.go",
	old: "deadline := quorum.Deadline(m.sent,", new: "deadline := quorum.Deadline(now,",
}, {
	name: "the deadline of a renewal counts from the answer", file: "internal/core/renewal/renew.go",
	old: "quorum.Deadline(r.sent,", new: "quorum.Deadline(r.lease.keeper.fan.Now(),",
}, {
	name: "a renewal counts after the old deadline", file: "internal/core/renewal/renew.go",
	old: "e.checkLocked() // a majority counts only inside the old deadline", new: "",
	unseen: "in virtual time the deadline's timer always comes first; TestAMajorityAfterTheDeadlineRevivesNoLease",
}, {
	name: "no timer at the deadline", file: "internal/core/renewal/lease.go",
	old: "e.timer = e.keeper.fan.AfterFunc(e.nextCheckLocked(), e.check)", new: "e.timer = e.keeper.fan.AfterFunc(time.Hour, e.check)",
}, {
	name: "a scheduler that takes the time of a suspension for time that its timer ran", file: "internal/core/renewal/keeper.go",
	old: "timers: clock.Monotonic(), wake", new: "timers: f.Now, wake",
}, {
	name: "tries paced by the TTL that Extend asked for", file: "internal/core/renewal/renew.go",
	old: "return min(e.keeper.pace(e.ttl)/2, max(e.deadline.Sub(sent)/4, e.keeper.fan.Set().Window))", new: "return e.keeper.pace(e.ttl) / 2",
}, {
	name: "a shorter renewal that wins is followed as late as a longer one", file: "internal/core/renewal/renew.go",
	old: "min(e.keeper.soonPace(e.ttl), e.deadline.Sub(r.sent)/3)", new: "e.keeper.soonPace(e.ttl)",
}, {
	name: "grants of different stamps counted together", file: "internal/core/quorum/attempt.go",
	old: "if round != a.round {", new: "if round > a.round {",
}, {
	name: "half of the nodes are a majority", file: "internal/core/quorum/validity.go",
	old: "return n/2 + 1", new: "return max(n/2, 1)",
}, {
	name: "a minority moves the deadline", file: "internal/core/quorum/renewal.go",
	old: "case r.yes >= need:", new: "case r.yes >= need-1:",
}, {
	name: "clocks are followed at once", file: "internal/core/quorum/timebase.go",
	old: "case !t.known, t.idle(now):", new: "case !t.known, t.idle(now), now != 0:",
}, {
	name: "who only renews follows clocks at once", file: "internal/core/quorum/stamp.go",
	old: "t.everDrawn, t.lastDrawn = true, now // a client that renews is not idle", new: "",
}, {
	name: "no token rule", file: "internal/nodemodel/lease.go",
	old: "case old.there && mine.Token <= above:", new: "case false:",
}, {
	name: "no window", file: "internal/nodemodel/lease.go",
	old: "return n.offClock(stamp-w, stamp+w), nil", new: "return n.offClock(stamp-1000*w, stamp+1000*w), nil",
}, {
	name: "no tombstone", file: "internal/nodemodel/release.go",
	old: "\ttomb = max(tomb, old.Seen)", new: "\ttomb = old.Seen",
}, {
	name: "a tombstone that is the token itself", file: "internal/nodemodel/release.go",
	old: "tomb, leased := above, old.Leased", new: "tomb, leased := above-1, old.Leased",
}, {
	name: "repair without a look at what was leased since", file: "internal/nodemodel/lease.go",
	old: "case leased > T, now > number(c.Args[3]), rleased > T:", new: "case now > number(c.Args[3]):",
}, {
	name: "a refused repair has no place in the queue", file: "internal/nodemodel/lease.go",
	old: "if old.Leased <= T && now <= number(c.Args[3]) {", new: "if false {",
}, {
	name: "a hand-off to a lease is declined", file: "internal/core/waiting/inbox.go",
	old: "if t == nil && b.Repair != nil && b.Repair(h.Owner) {", new: "if false {",
}, {
	name: "a lease's release is sent as that of an attempt", file: "internal/core/renewal/lease.go",
	old: "return e.Kind().Release(", new: "return e.Kind().Abort(",
}, {
	name: "no quarantine", file: "internal/nodemodel/admission.go",
	old: "nodescript.Micros(n.now() + us), \"why\": why", new: "nodescript.Micros(n.now()), \"why\": why",
}, {
	name: "a quarter of the quarantine", file: "internal/nodemodel/admission.go",
	old: "nodescript.Micros(n.now() + us), \"why\": why", new: "nodescript.Micros(n.now() + us/4), \"why\": why",
}, {
	name: "a request of before a loss begins the quarantine", file: "internal/nodemodel/admission.go",
	old: "case c.Args[2] != a.challenge:", new: "case false:",
}, {
	name: "a voucher of before a loss counts", file: "internal/nodemodel/admission.go",
	old: "case c.Args[2] != names:", new: "case false:",
}, {
	name: "a durable node votes although its clock took locks", file: "internal/nodemodel/admission.go",
	old: "case a.until == 0 && (ahead || !whole):", new: "case known && a.until == 0 && !whole:",
	attempts: 2_000_000, // a clock must leap while a durable node holds the name that is asked for next
}, {
	name: "evictions are ignored", file: "internal/nodemodel/admission.go",
	old: "if a, err := n.remembered(); err == nil && a.evicted == strconv.FormatInt(n.Info.Evicted, 10) {", new: "if true {",
}, {
	name: "admission needs memory", file: "internal/nodemodel/node.go",
	old: "return n.admit(config, run, c)", new: "if n.Full { return \"\", oom }; return n.admit(config, run, c)",
	unseen: "a look does not greet any more, and a broken connection is an excuse for a lost lease; TestAStatusWhereMemoryIsFullEndsNoLease",
}, {
	name: "a node that answers with an error gets no release", file: "internal/core/quorum/standing.go",
	old: "!(s.step == Refuse && s.unreached)", new: "!(s.step == Refuse && s.refusal.Verdict == nodescript.Failed)",
}, {
	name: "a client ignores that a node lost its scripts", file: "internal/core/fanout/worker.go",
	old: "case a.Verdict == nodescript.NotAdmitted || node.Code(a.Err) == node.NoScript:", new: "case a.Verdict == nodescript.NotAdmitted:",
}, {
	name: "one server under two addresses has two votes", file: "internal/core/fanout/homes.go",
	old: "known && h.node != node {", new: "known && h.node != node && run == \"\" {",
}, {
	name: "a stranger's vote counts", file: "internal/core/fanout/members.go",
	old: "func(o objection) bool { return now < o.until })", new: "func(o objection) bool { return now < 0 })",
}, {
	name: "reports that hang keep the next one from the node", file: "internal/core/fanout/direct.go",
	old: "v.reports[0].stop()", new: "stop(); return ctx, stop",
}, {
	name: "a newcomer's vote does not wait for the objection of a far node", file: "internal/core/fanout/reporting.go",
	old: "\tif r.begins {", new: "\tif false {",
}, {
	name: "a node that keeps nothing of a report counts as told", file: "internal/core/fanout/reporting.go",
	old: "\t\tif again && f.untrusted(i, f.Now()) {", new: "\t\tif false {",
}, {
	name: "a look takes another server without a greeting", file: "internal/core/fanout/voter.go",
	old: "v.standing.Doubt() // a whole greeting", new: "v.standing.Greeted(v.fan.Now(), h, nil, twin) // a whole greeting",
}, {
	name: "a node that a report reached late counts as silent", file: "internal/core/nodescript/peers.go",
	old: "r.Value[0] != 'P' && r.Value[0] != 'O':", new: "r.Value[0] != 'P':",
}, {
	name: "an id that is lost and regained loses its objections", file: "internal/core/fanout/reporting.go",
	old: "r.changes[i] == m.changes && ", new: "",
}, {
	name: "an inner Unlock releases the lock", file: "handle.go",
	old: "last = h == f && f.ended && f.below == nil", new: "last = true",
}, {
	name: "goroutines under one lease do not exclude each other", file: "handle.go",
	old: "case !l.free(shared), !l.shared && len(l.line) > 0 && l.line[0] != after:", new: "case false:",
}, {
	name: "a name that a minority keeps counts as kept", file: "internal/core/renewal/giveback.go",
	old: "case b.lost == nil && b.done > 0 &&", new: "case b.done > 0 &&",
	unseen: "a client tells the others again until the name is kept there; TestUnlockAtSaysThatAMinorityKeepsTheName",
}, {
	name: "an attempt that failed is not undone", file: "internal/core/bid/lease.go",
	old: "\tm.release(to, now)", new: "\t_ = to",
}, {
	name: "who gives up waiting leaves only the queues that it heard of", file: "internal/core/bid/lease.go",
	old: "to = Every // the bid may be in every queue", new: "_ = to",
}, {
	name: "a lost lease stays on the nodes that have it", file: "internal/core/renewal/lease.go",
	old: "e.sendOnly(e.releaseCall(), nil) // a minority", new: "// a minority",
	attempts: 1_000_000, // a million finds it
}, {
	name: "scripts follow a request for an incarnation that ended", file: "internal/nodemodel/admission.go",
	old: "return \"\", node.ServerError(nodescript.OtherRun + \" \" + n.Info.Run)", new: "return nodescript.OtherRun, nil",
}, {
	name: "a minority is kept", file: "internal/core/bid/part.go",
	old: "\t\tm.release(part, now)", new: "",
}, {
	name: "a waiter does not ask again", file: "internal/core/waiting/queue.go",
	old: "\t\t\tb.askAgain(every)", new: "\t\t\t_ = b",
}, {
	name: "an outage ends waits one after the other", file: "internal/core/waiting/outage.go",
	old: "over = ends(ln.first)", new: "if over = ends(ln.first); over { o.lasts = false; return over, next }",
}, {
	name: "a lease does not carry the count of its passes", file: "internal/core/bid/lease.go",
	old: "Passes: m.passes}", new: "Passes: 0}",
}, {
	name: "a hand-off to a bid that is over is not declined", file: "internal/core/waiting/decline.go",
	old: "b.fan.SendTo(k.Node, &fanout.Message{Call: nodescript.Decline(k.Of), SendBy: b.fan.Now().Add(b.fan.Set().Claim())})", new: "_, _ = nodescript.Decline(k.Of), fanout.Message{}",
}, {
	name: "what UnlockAt leaves is free at once", file: "internal/nodemodel/release.go",
	old: "Expiry: until, Waiting", new: "Expiry: now, Waiting",
}, {
	name: "Close gives nothing back", file: "client.go",
	old: "held := c.keeper.Held()", new: "held := c.keeper.Held()[:0]",
}, {
	name: "leases are renewed when they are over", file: "internal/core/renewal/renew.go",
	old: "k.fan.Set().Window) / 3", new: "k.fan.Set().Window)",
}, {
	name: "a writer beside readers", file: "internal/nodemodel/lease.go",
	old: "	case len(alive) > 0:", new: "	case false:",
}, {
	name: "a reader beside a writer", file: "internal/nodemodel/shared.go",
	old: "	case live && !passed:", new: "	case false:",
}, {
	name: "a writer's token may be below a reader's", file: "internal/nodemodel/lease.go",
	old: "live, above := old.live(now), max(old.Seen, r.seen)", new: "live, above := old.live(now), old.Seen",
	unseen: "a writer draws its stamp after the readers are gone; TestAWritersTokenIsAboveAllBefore",
}, {
	name: "readers join a lease as long as it lasts", file: "internal/core/waiting/share.go",
	old: "l.byName[name] == nil && now < o.until", new: "l.byName[name] == nil",
}, {
	name: "a reader joins past a call that waits", file: "internal/core/waiting/share.go",
	old: "reader && l.byName[name] == nil && now < o.until", new: "reader && now < o.until",
}, {
	name: "the answer to a renewal before a downgrade ends the lease", file: "internal/core/renewal/downgrade.go",
	old: "		return out == quorum.Won", new: "		return true",
	unseen: "a renewal is rarely under way when a downgrade begins; TestOnlyTheLastRequestOfADowngradeWins",
}, {
	name: "an earlier request of a downgrade may win", file: "internal/core/renewal/downgrade.go",
	old: "	case f == nil || r.stamp != e.highest:", new: "	case f == nil:",
	unseen: "a late answer is rarely the one that makes a majority; TestOnlyTheLastRequestOfADowngradeWins",
}, {
	name: "a downgrade leaves the writer's lease on other nodes", file: "internal/core/renewal/downgrade.go",
	old: "	e.sendOnly(f.releaseCall(), func(i int) bool { return yes>>i&1 == 0 })", new: "	_ = yes",
	unseen: "a node rarely misses a downgrade after all faults; TestANodeThatMissedADowngradeIsFreed",
}, {
	name: "a late renewal brings back a reader that UnlockAt ended", file: "internal/core/renewal/giveback.go",
	old: "		last = e.highest // other", new: "			last = e.Token() // other",
}, {
	name: "what UnlockAt of a reader leaves is free at once", file: "internal/nodemodel/shared.go",
	old: "n.setEntry(c, left, old.has.token, until)", new: "n.setEntry(c, left, old.has.token, n.now())",
}, {
	name: "UnlockAt of a handle is forgotten when another one ends later", file: "handle.go",
	old: "keep = min(time.Until(f.until), l.client.config.MaxTTL)", new: "keep = min(time.Until(at), l.client.config.MaxTTL)",
}}
