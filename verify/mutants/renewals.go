package main

// lateRenewals are weakenings of the deadline of a lease, and of renewals that come late at the nodes or wait in a busy
// client.
var lateRenewals = []mutant{{
	name: "Err of a lease's context waits for the timer", promise: told, file: "internal/core/ending/checked.go",
	old: "return c.Ender.Err()", new: "return nil",
	pkg: "internal/core/renewal", check: "TestErrLooksAtTheClockAndWaitsForNoLock", says: "at the deadline Err returned",
}, {
	name: "Err of a lease's context waits for the lease's lock", promise: told, file: "internal/core/renewal/context.go",
	old: "if e.mu.TryLock() {", new: "if e.mu.Lock(); true {",
	pkg: "internal/core/renewal", check: "TestErrLooksAtTheClockAndWaitsForNoLock", says: "Err waits for a lock",
}, {
	name: "a renewal brings back what a context has ended", promise: told, file: "internal/core/ending/deadline.go",
	old: "return old != over && d.at.CompareAndSwap(old, int64(to))", new: "return d.at.CompareAndSwap(old, int64(to))",
	pkg: "internal/core/ending", check: "TestADeadlineThatHasPassedDoesNotMove", says: "came back",
}, {
	name: "a late process announces a loss at the deadline", promise: told, file: "internal/core/renewal/pulse.go",
	old: "return min(2*e.keeper.Delay(), e.keeper.lastQuarter(e.ttl))", new: "return 0",
	pkg: "internal/core/renewal", check: "TestALateProcessEndsALeaseThatIsNotRenewedEarlier", says: "the lease ended",
}, {
	name: "renewals go on behind the limit of a lease", promise: told, file: "internal/core/renewal/limit.go",
	old: "return e.rare.limit.at", new: "return e.deadline",
	pkg: "internal/core/renewal", check: "TestALimitEndsALeaseThatIsRenewed", says: "the deadline is in",
}, {
	name: "a renewal counts after the old deadline", promise: told, file: "internal/core/renewal/renew.go",
	old: "e.checkLocked() // a majority counts only inside the old deadline", new: "",
	pkg: "internal/core/renewal", check: "TestAMajorityAfterTheDeadlineRevivesNoLease", says: "came back to life",
}, {
	name: "a late yes counts as long as one in time", promise: told, file: "internal/core/renewal/renew.go",
	old: "at = at.Add(-r.excess[i])", new: "at = at.Add(0 * r.excess[i])",
	pkg: "internal/core/renewal", check: "TestTheDeadlineOfALateRenewal", says: "the deadline is earlier by 0s; want 500ms",
}, {
	name: "the node that counts longest decides the deadline", promise: told, file: "internal/core/fanout/site.go",
	old: "return until[len(until)-need]", new: "return until[len(until)-min(need, 1)]",
	pkg: "internal/core/renewal", check: "TestTheDeadlineOfALateRenewal", says: "earlier by .*; want 500ms",
}, {
	name: "the smallest excess of a majority counts", promise: outlives, file: "internal/core/quorum/renewal.go",
	old: "return r.late[need-onTime-1]", new: "return r.late[0]",
	pkg: quorumPkg, check: "TestALateYesMakesTheDeadlineEarlier", says: "excess .*; want",
}, {
	name: "a better yes after a majority does not count", promise: outlives, file: "internal/core/quorum/renewal.go",
	old: "out == Won && r.told == Won && r.Excess() < r.counted", new: "false",
	pkg: "internal/core/renewal", check: "TestTheDeadlineOfALateRenewal", says: "earlier by 900ms; want 500ms",
}, {
	name: "a yes after the window has no excess", promise: told, file: "internal/core/quorum/renewal.go",
	old: "max(ans.Time-r.stamp-r.window, 0)", new: "min(ans.Time-r.stamp-r.window, 0)",
	pkg: quorumPkg, check: "TestALateYesMakesTheDeadlineEarlier", says: "excess .*; want",
}, {
	name: "a node refuses a late renewal", promise: outlives, file: lua + "extend.lua",
	old: "if ahead > @WINDOW@ or expiry <= now then", new: "if ahead > @WINDOW@ or ahead < -@WINDOW@ or expiry <= now then",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/writer", says: "the server and the model differ",
}, {
	name: "a node refuses a late renewal of a reader", promise: outlives, file: lua + "extend-shared.lua",
	old: "if ahead > @WINDOW@ or expiry <= now then", new: "if ahead > @WINDOW@ or ahead < -@WINDOW@ or expiry <= now then",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/reader", says: "the server and the model differ",
}, {
	name: "a node renews a lease that has already expired", promise: told, file: lua + "extend.lua",
	old: "if ahead > @WINDOW@ or expiry <= now then", new: "if ahead > @WINDOW@ then",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/writer", says: "the server and the model differ",
}, {
	name: "a node renews a lease by a clock that is far ahead", promise: noHang, file: lua + "extend.lua",
	old: "if ahead > @WINDOW@ or expiry <= now then", new: "if expiry <= now then",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/writer", says: "the server and the model differ",
}, {
	name: "a node does not say that a renewal was late", promise: told, file: lua + "extend.lua",
	old: "local late = ahead < -@WINDOW@ and now or ''", new: "local late = ''",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/writer", says: "the server and the model differ",
}, {
	name: "a node does not say that a renewal of a reader was late", promise: told, file: lua + "extend-shared.lua",
	old: "local late = ahead < -@WINDOW@ and now or ''", new: "local late = ''",
	pkg: modelPkg, check: "TestARenewalCountsUntilItsExpiry/reader", says: "the server and the model differ",
}, {
	name: "a stamp is drawn for a lease that has ended", promise: nothing, file: "internal/core/renewal/renew.go",
	old: "if r.lease.end != nil {", new: "if false {",
	pkg: "internal/core/renewal", check: "TestNoStampIsDrawnForALeaseThatHasEnded", says: "drawn after the release",
}, {
	name: "a renewal waits for the node timeout only", promise: outlives, file: "internal/core/renewal/renew.go",
	old: "m.Until = r.full()", new: "_ = r.full()",
	pkg: "internal/core/renewal", check: "TestARenewalWaitsForNodesThatAreSlow", says: "although each node answers",
}, {
	name: "a worker that was woken does not wake the next one", promise: outlives, file: "internal/core/fanout/relay.go",
	old: "if next != nil && next.signal() {", new: "if next != nil {",
	pkg: fanPkg, check: "TestNoMessageIsForgottenInABusyProcess", says: "not answered within a minute",
}, {
	name: "a call is drawn again for each node", promise: told, file: "internal/core/fanout/message.go",
	old: "m.draw.Do(func() {", new: "new(sync.Once).Do(func() {",
	pkg: fanPkg, check: "TestACallIsDrawnOnceWhenItIsSent", says: "drawn [23] times",
}, {
	name: "a late reader does not look for the answer", promise: outlives, file: "node/internal/driver/prompt.go",
	old: "if errors.Is(err, os.ErrDeadlineExceeded) {", new: "if errors.Is(err, os.ErrDeadlineExceeded) && false {",
	pkg: driverPkg, check: "TestALateReaderFindsTheAnswer", says: `"", .*i/o timeout`,
}, {
	name: "work does not ask for the end of a lock around it", promise: told, file: "internal/core/ending/work.go",
	old: "if err := w.parent.Err(); err != nil {", new: "if err := w.parent.Err(); err != nil && false {",
	pkg: "internal/core/ending", check: "TestNestedWorkLooksAtTheClocksOfAllLeases", says: "the outer lease has ended, and Err is <nil>",
}, {
	name: "work does not know why a lock around it ended", promise: told, file: "internal/core/ending/work.go",
	old: "case w.parent.Err() != nil:", new: "case false:",
	pkg: "internal/core/ending", check: "TestNestedWorkLooksAtTheClocksOfAllLeases", says: "has ended, and the cause is context canceled",
}, {
	name: "work ends with a lease that its context was detached from", promise: told, file: "internal/core/ending/work.go",
	old: "return enderOf(w.lease)", new: "return enderOf(w.parent)",
	pkg: "internal/core/ending", check: "TestWorkUnderWorkEndsWithTheLeaseOfThatWork", says: "functions are called at the end of another lease",
}, {
	name: "an instant that is too far away lies in the past", promise: outlives, file: "internal/core/clock/clock.go",
	old: "return edge(d > 0)", new: "return sum",
	pkg: "internal/core/renewal", check: "TestAHugeLimitIsNone", says: "it ended with lock lost",
}, {
	name: "a late process loses a lease before its limit", promise: outlives, file: "internal/core/renewal/lease.go",
	old: "left := e.deadline.Sub(e.keeper.fan.Now())", new: "left := e.boundLocked().Sub(e.keeper.fan.Now())",
	pkg: "internal/core/renewal", check: "TestALateProcessHoldsALeaseUntilItsLimit", says: "with the limit 7s the lease ended after",
}, {
	name: "a late process names the limit of a lease that was not renewed", promise: told, file: "internal/core/renewal/lease.go",
	old: "if early == 0 && e.limitedLocked() {", new: "if e.limitedLocked() {",
	pkg: "internal/core/renewal", check: "TestALateProcessHoldsALeaseUntilItsLimit", says: "with a limit just before the deadline the lease ended",
}, {
	name: "the scheduler counts a renewal that it did not send", promise: outlives, file: "internal/core/renewal/left.go",
	old: "e.renewLocked(newOutcome(), nil, true)", new: "e.renewLocked(newOutcome(), e.lane, true)",
	pkg: "internal/core/renewal", check: "TestTheSchedulerCountsOnlyItsOwnRenewals", says: "-1 renewals are counted while none is under way",
}, {
	name: "all node sets share the limit of renewals under way", promise: outlives, file: "internal/core/renewal/lane.go",
	old: "return l.fan == f", new: "return true",
	pkg: "internal/core/renewal", check: "TestANodeSetThatHangsKeepsNoOtherWaiting", says: "a lease of the healthy node set has",
}}
