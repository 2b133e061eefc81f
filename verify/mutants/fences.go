package main

// ofFences are weakenings of package fence.
var ofFences = []mutant{{
	name: "an old reader is admitted after a writer", promise: fenced, file: "fence/marks.go",
	old: "if t.Fence < m.Writer {", new: "if t.Mode == Writer && t.Fence < m.Writer {",
	pkg: fencePkg, check: "TestTheRule", says: "token 6 of a reader is admitted",
}, {
	name: "a reader stops no older writer", promise: fenced, file: "fence/marks.go",
	old: "if t.Fence < m.Reader {", new: "if false {",
	pkg: fencePkg, check: "TestNoHistoryLetsAnOldHolderWrite", says: "<nil>; is it old: true",
}, {
	name: "one mark for readers and writers", promise: fenced, file: "fence/marks.go",
	old: "m.Reader = max(m.Reader, t.Fence)", new: "m.Writer = t.Fence",
	pkg: fencePkg, check: "TestNoHistoryLetsAnOldHolderWrite", says: "is old: token .* was here; is it old: false",
}, {
	name: "the mark of readers falls with an older reader", promise: fenced, file: "fence/marks.go",
	old: "m.Reader = max(m.Reader, t.Fence)", new: "m.Reader = t.Fence",
	pkg: fencePkg, check: "TestTheRule", says: "the marks become",
}, {
	name: "the script for Redis does not compare a writer with readers", promise: fenced, file: "fence/redis.lua",
	old: "if token < writer or mode == 'writer' and token < reader then", new: "if token < writer then",
	pkg: "verify/fencing", check: "TestTheScriptFollowsTheRule", says: "the script says <nil>, the rule says fence",
}, {
	name: "the script for Redis keeps no marks", promise: fenced, file: "fence/redis.lua",
	old: "redis.call('HSET', KEYS[1], mode, token)", new: "local _ = token",
	pkg: "verify/fencing", check: "TestRedisIsFenced", says: "succeeded, although it is old",
}, {
	name: "a file keeps no marks", promise: fenced, file: "fence/file.go",
	old: "if next != seen { // before the value: a crash must not leave a new value under old marks", new: "if false {",
	pkg: fencePkg, check: "TestFilesAreFenced", says: "succeeded, although it is old",
}, {
	name: "the marks of a file are a resource", promise: fenced, file: "fence/file.go",
	old: "if strings.HasSuffix(f.Path, end) {", new: `if strings.HasSuffix(f.Path, "?"+end) {`,
	pkg: fencePkg, check: "TestTheFilesOfAResourceAreNoResources", says: "want ErrStale",
}, {
	name: "a file is not locked against other processes", promise: fenced, file: "fence/flock.go",
	old: "err = flock(file)", new: "_ = flock",
	pkg: fencePkg, check: "TestALockedFileCostsNoMoreThanTheContext", says: "want the cause of the context",
}, {
	name: "an object is written whatever was there", promise: fenced, file: "fence/object.go",
	old: "err = o.Store.Put(ctx, o.Key, object(next, value), tag)", new: `_, tag, _ = o.Store.Get(ctx, o.Key); err = o.Store.Put(ctx, o.Key, object(next, value), tag)`,
	pkg: fencePkg, check: "TestAHolderBetweenGetAndPutIsNoticed", says: "came in between: <nil>",
}}
