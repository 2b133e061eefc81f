package main

// kindsInSimulation are weakenings of semaphores and of several locks at once that the simulation must find by itself.
var kindsInSimulation = []simulated{{
	name: "a writer that died in the queue keeps readers out", file: "internal/nodemodel/shared.go",
	old: "if !over && handable(w.owner) && n.listens(nodescript.Inbox(client(w.owner))) {", new: "if !over && handable(w.owner) {",
}, {
	name: "a slot that is given back goes to nobody", file: "internal/nodemodel/slots.go",
	old: "q.next(slot, old, \"\")", new: "_ = old",
	unseen: "a waiter asks once a second, so it finds the slot in time; TestServerDoesWhatTheModelSaysOfSlots",
}, {
	name: "who asks for a free slot overtakes the waiters", file: "internal/nodemodel/slots.go",
	old: "case place < 0 && old.free(n.now()) && number(c.Args[0][:16]) > old.Seen:", new: "case false:",
	unseen: "a slot is free beside waiters only after a lease expired, and one overtaking is allowed; TestServerDoesWhatTheModelSaysOfSlots",
}, {
	name: "a slot goes to a waiter that cannot use it", file: "internal/nodemodel/slots.go",
	old: "if usable(w.owner) <= slot {", new: "if false {",
}, {
	name: "an exchange of slots loses the claim of the other", file: "internal/nodemodel/slots.go",
	old: "q.claim(place, mine, owner, other, old.Expiry)", new: "_ = mine",
}, {
	name: "a late question for a slot ends a later grant of its owner", file: "internal/nodemodel/slots.go",
	old: "old.Owner == member[4:] && old.Token < T", new: "old.Owner == member[4:]",
}, {
	name: "a bid that moves keeps its grants of the last slot", file: "internal/core/bid/slots.go",
	old: "return last, m.stamp != 0 && last.To != 0", new: "return last, false",
}, {
	name: "a late answer to a waiter releases the lease that was passed to it", file: "internal/core/bid/answer.go",
	old: "m.emit(Action{Do: Abort, To: One(node), Owner: m.Owner, Slot: m.slotNow(), At: now.Add(nodescript.QueueKept)})", new: "m.release(One(node), now)",
}, {
	name: "a bid does not move from a slot that a lease has", file: "internal/core/bid/slots.go",
	old: "best, most = offer, score(offer)", new: "_ = offer",
}, {
	name: "callers of Extend replace the requests of a downgrade", file: "internal/core/renewal/downgrade.go",
	old: "if r.settled || e.keeper.fan.Now() >= r.sent.Add(e.againLocked(r.sent)) {", new: "if true {",
}, {
	name: "several locks are taken in the order in which they are named", file: "lockall.go",
	old: "slices.Sort(names)", new: "_ = slices.Sort[[]string]",
}, {
	name: "higher locks are kept while a lower one is waited for", file: "lockall.go",
	old: "s.client.giveBackAll(overdue(), more, time.Time{})", new: "_, _ = more, time.Time{}",
}, {
	name: "a failed call for several locks keeps what it has", file: "lockall.go",
	old: "s.abandon(ctx)", new: "_ = s.abandon",
}, {
	name: "a panic in OnWait keeps the other locks of a set", file: "lockall.go",
	old: "if !done {", new: "if p := recover(); p != nil { panic(p) } else if !done {",
}}
