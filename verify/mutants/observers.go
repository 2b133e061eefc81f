package main

// noDelay is the promise of observers.
const noDelay = "an observer delays no lock, and learns what it missed"

// byObservers are weakenings of what observers receive.
var byObservers = []mutant{{
	name: "an observer is called where the fact was found", promise: noDelay, file: "observing.go",
	old: "c.events.On(k, func(e *events.Event) { box.Put(c.public(kind, e)) })",
	new: "c.events.On(k, func(e *events.Event) { o.Observe(c.public(kind, e)) })",
	pkg: e2ePkg, check: "TestAStuckObserverDelaysNoLock", says: "an observer that hangs delays a lock",
}, {
	name: "a slow observer is not told what it missed", promise: noDelay, file: "internal/core/async/mailbox.go",
	old: "if n := m.lost; n > 0 {", new: "if n := m.lost; n > 0 && m.room < 0 {",
	pkg: "internal/core/async", check: "TestASlowReceiverIsToldHowManyItemsItMissed", says: "want",
}, {
	name: "a slow observer is not told that its client closed", promise: noDelay, file: "observing.go",
	old: "box.PutLast(", new: "box.Put(",
	pkg: ".", check: "TestASlowObserverLearnsThatItsClientClosed", says: "the observer got",
}, {
	name: "a call that returns after Close makes an event", promise: noDelay, file: "internal/core/async/mailbox.go",
	old: "if m.ended {", new: "if false {",
	pkg: e2ePkg, check: "TestNoEventFollowsTheLastOne", says: "came after EventClosed",
}, {
	name: "a slow observer may cost all memory", promise: noDelay, file: "internal/core/async/mailbox.go",
	old: "if m.ended = last; len(m.todo) >= m.room && !last {", new: "if m.ended = last; len(m.todo) < 0 {",
	pkg: "internal/core/async", check: "TestASlowReceiverIsToldHowManyItemsItMissed", says: "want",
}, {
	name: "the margin of a renewal counts to the new deadline", promise: noDelay, file: "internal/core/renewal/renew.go",
	old: "ev.Left = e.deadline.Sub(e.keeper.fan.Now())",
	new: "ev.Left = quorum.Deadline(r.sent, r.ttl, e.keeper.fan.Set().Window).Sub(e.keeper.fan.Now())",
	pkg: e2ePkg, check: "TestAnObserverReceivesTheStoryOfALease", says: "renewed:",
}}
