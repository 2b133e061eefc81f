package main

// ofSetnx are weakenings of package compat/setnx.
var ofSetnx = []mutant{{
	name: "a late renewal of a lock by SETNX replaces a later one", promise: olds, file: setnxLua + "renew.lua",
	old: "if ends(value) > ends(mine) then mine = value end", new: "if false then mine = value end",
	pkg: setnxPkg, check: "TestALateRenewalDoesNotReplaceALaterOne", says: "the late renewal put",
}, {
	name: "a lock by SETNX is taken before its time", promise: olds, file: setnxLua + "acquire.lua",
	old: "if left <= 0 then", new: "if left <= 60000 then",
	pkg: setnxPkg, check: "TestValuesOfOtherClientsAreRead", says: "TryLock: <nil>",
}, {
	name: "the clock of an old client is never late", promise: olds, file: setnxLua + "acquire.lua",
	old: "last + tonumber(ARGV[3]) - now", new: "last - now",
	pkg: setnxPkg, check: "TestAnEndedLockIsTakenSkewLater", says: "TryLock within Skew: <nil>",
}, {
	name: "a value that is no time is overwritten", promise: olds, file: setnxLua + "acquire.lua",
	old: "if not last then return 'F' .. type .. ' ' .. string.format('%.0f', ttl) .. '\\n' .. value end", new: "last = last or 0",
	pkg: setnxPkg, check: "TestAForeignKeyIsAClearErrorAndUntouched", says: "TryLock: <nil>",
}, {
	name: "any small number is a time", promise: olds, file: setnxLua + "time.lua",
	old: "if n >= 1e9 and n < 1e11", new: "if n < 1e11",
	pkg: setnxPkg, check: "TestAForeignKeyIsAClearErrorAndUntouched", says: "TryLock: <nil>",
}, {
	name: "milliseconds are read as seconds", promise: olds, file: setnxLua + "time.lua",
	old: "if n >= 1e12 and n < 1e14 then return math.floor(n) end", new: "if n >= 1e12 and n < 1e14 then return math.floor(n * 1000) end",
	pkg: setnxPkg, check: "TestValuesOfOtherClientsAreRead", says: "it expires in",
}, {
	name: "a renewal overwrites a new holder's value", promise: olds, file: setnxLua + "renew.lua",
	old: "if value ~= last and not (ARGV[1] == 'race' and ", new: "if value ~= last and not (true and ",
	pkg: setnxPkg, check: "TestALaterChangeIsALoss", says: "the lease goes on",
}, {
	name: "a loser's GETSET ends the winner's lease", promise: olds, file: setnxLua + "renew.lua",
	old: "ARGV[1] == 'race' and alive", new: "false and alive",
	pkg: setnxPkg, check: "TestTheWinnerKeepsTheLockAfterALosersGetset", says: "not within .*: the winner writes its own value",
}, {
	name: "a release leaves a loser's value behind", promise: olds, file: setnxLua + "release.lua",
	old: "ARGV[1] == 'race' and alive", new: "false and alive",
	pkg: setnxPkg, check: "TestTheWinnerKeepsTheLockAfterALosersGetset", says: "another client wrote its value",
}, {
	name: "a release deletes a key that is no time", promise: olds, file: setnxLua + "release.lua",
	old: "and not (ARGV[1] == 'race' and alive and raced(value)) then", new: "and ARGV[1] ~= 'race' then",
	pkg: setnxPkg, check: "TestALossInTheFirstSecond", says: "Unlock after a token",
}, {
	name: "a renewal makes the old time shorter", promise: olds, file: setnxLua + "renew.lua",
	old: "if ends(mine) < ends(last) then mine = last end", new: "",
	pkg: setnxPkg, check: "TestARenewalNeverShortens", says: "after Extend by 10 seconds",
}, {
	name: "a holder of the old lock trusts it although a clock is ahead", promise: olds, file: "compat/setnx/config.go",
	old: "return holding.Validity(ttl) - c.Skew", new: "return holding.Validity(ttl)",
	pkg: setnxPkg, check: "TestALossIsAnnouncedBeforeTheTimeEnds", says: "less than half of Skew",
}, {
	name: "a value in seconds ends before the TTL", promise: olds, file: setnxLua + "time.lua",
	old: "math.floor((now + ttl) / 1000) + 1)", new: "math.floor((now + ttl) / 1000))",
	pkg: setnxPkg, check: "TestALeaseHasThePatternsValue", says: "ms after the TTL",
}, {
	name: "a repeated release deletes an equal value at once", promise: olds, file: "compat/setnx/client.go",
	old: "r.mode = \"ended\"", new: "r.mode = \"own\"",
	pkg: setnxPkg, check: "TestARepeatedReleaseFreesNoOtherLock", says: "of another holder is",
}, {
	name: "a release accepts another value after its own time", promise: olds, file: setnxLua + "release.lua",
	old: "local alive = ends(ARGV[3]) - skew > now", new: "local alive = true",
	pkg: setnxPkg, check: "TestALateReleaseFreesNoOtherLock", says: "of another holder is",
}, {
	name: "the value of a renewal without an answer is forgotten", promise: olds, file: "compat/setnx/lease.go",
	old: "l.maybe = append(slices.Clone(l.maybe), proposal)", new: "l.maybe = slices.Clone(l.maybe)",
	pkg: setnxPkg, check: "TestARenewalWithoutAnAnswerLosesNothing", says: "the next renewal",
}, {
	name: "a value that ends too early after a leap of the clock is enough", promise: olds, file: "compat/setnx/lease.go",
	old: "a.left < ttl-c.now().Sub(sent)", new: "a.left < 0",
	pkg: setnxPkg, check: "TestARenewalAfterALeapOfTheClock", says: "and the value ends in",
}, {
	name: "Close does not wait for an attempt of the old pattern", promise: olds, file: "compat/setnx/client.go",
	old: "c.tasks.Do(func() { l, err = c.try(ctx, name, key) })", new: "l, err = c.try(ctx, name, key)",
	pkg: setnxPkg, check: "TestCloseReleasesAGrantThatArrivesMeanwhile", says: "left .lock.foo",
}}
