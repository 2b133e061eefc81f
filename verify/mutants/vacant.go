package main

// byVacant are weakenings of the rules by which a set that granted nothing skips its quarantines.
var byVacant = []mutant{{
	name: "a server that has just started is unused", promise: memory, file: lua + "quarantine.lua",
	old: "or (up - 1) * 1000000 < @QUARANTINE@ then", new: "then",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "an uptime is exact", promise: memory, file: lua + "quarantine.lua",
	old: "(up - 1) * 1000000", new: "up * 1000000",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a server that has run scripts is unused", promise: memory, file: lua + "quarantine.lua",
	old: "counted('evalsha') or", new: "",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a server whose counts were reset is unused", promise: memory, file: lua + "quarantine.lua",
	old: "counted('config|resetstat') or", new: "",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a server that got another port is unused", promise: memory, file: lua + "quarantine.lua",
	old: " or counted('config|set'))", new: ")",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a server that was a replica is unused", promise: memory, file: lua + "quarantine.lua",
	old: "if string.find(field('master_replid2'), '[^0]') or field('total_net_repl_input_bytes') ~= '0' then return false end", new: "",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a server behind Sentinels is unused", promise: memory, file: lua + "quarantine.lua",
	old: "if epoch .. noted ~= '' or ARGV[8] and", new: "if ARGV[8] and",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}, {
	name: "a late request skips a later quarantine", promise: memory, file: lua + "quarantine.lua",
	old: "if ARGV[5] == 'U' and ARGV[3] == challenge and", new: "if ARGV[5] == 'U' and",
	pkg: modelPkg, check: "TestALateClaimSkipsNoLaterQuarantine", says: "the server and the model differ",
}, {
	name: "a server is not asked once more whether it is unused", promise: memory, file: lua + "quarantine.lua",
	old: "and says(r[7]) ~= (r[7] or '') then", new: "and (r[7] == 'new' or r[7] == 'restarted') then",
	pkg: modelPkg, check: "TestALateClaimSkipsNoLaterQuarantine", says: "the server and the model differ",
}, {
	name: "a node that may be in use does not count", promise: exclusion, file: "internal/core/fanout/unused.go",
	old: "case s.is == occupied:", new: "case false:",
	pkg: "internal/core/fanout", check: "TestANodeThatMayBeInUseKeepsTheQuarantines", says: "want 0",
}, {
	name: "a node was unused before the last challenge", promise: exclusion, file: "internal/core/fanout/unused.go",
	old: "case s.asked <= last:", new: "case false:",
	pkg: "internal/core/fanout", check: "TestAllNodesMustBeUnusedAtOneInstant", says: "want 1",
}, {
	name: "a node is claimed with an older challenge", promise: exclusion, file: "internal/core/fanout/unused.go",
	old: "if u.agreed != nil && u.agreed[i] == u.nodes[i].challenge {", new: "if u.agreed != nil {",
	pkg: "internal/core/fanout", check: "TestAllNodesMustBeUnusedAtOneInstant", says: "want 2",
}, {
	name: "an address elsewhere always led to one server", promise: exclusion, file: "internal/core/fanout/unused.go",
	old: "if n.Local(ctx) == run {", new: "if n.Local(ctx) == run || true {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum|a client got the lock",
}, {
	name: "clients with other addresses do not count", promise: exclusion, file: "internal/core/fanout/unused.go",
	old: "if !ok || !v.fan.config.OneList || run == v.elsewhere {", new: "if !ok || run == v.elsewhere {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "error <nil>; want no quorum",
}, {
	name: "a look skips a quarantine", promise: exclusion, file: "internal/core/fanout/greet.go",
	old: "if a.NothingGranted() && !looks {", new: "if a.NothingGranted() {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "the node: ",
}, {
	name: "a proxy is taken for the server", promise: exclusion, file: "node/internal/driver/local.go",
	old: "if c.RemoteAddr().String() != addr || seen[\"addr\"] != c.LocalAddr().String() || seen[\"laddr\"] != addr {", new: "if false {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum|a client got the lock",
}, {
	name: "a server may be older than its process", promise: memory, file: "node/internal/driver/local.go",
	old: "!known || id.Up-time.Second > age {", new: "!known && id.Up-time.Second > age {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum",
}, {
	name: "a server that was flushed is unused", promise: memory, file: lua + "quarantine.lua",
	old: "and not (counted('flushall') or counted('flushdb') or counted('swapdb'))", new: "",
	pkg: modelPkg, check: "TestAServerThatMayHaveGrantedDoesNotSkipItsQuarantine", says: "the server and the model differ",
}}

// vacantInSimulation are weakenings that the vacant worlds of the simulation are for.
var vacantInSimulation = []simulated{{
	name: "a node that has just started is unused", file: "internal/nodemodel/admission.go",
	old: "(up-1)*1_000_000 >= config.Quarantine().Microseconds()", new: "up >= 0",
}, {
	name: "a node that has run scripts is unused", file: "internal/nodemodel/admission.go",
	old: "unused := !n.Info.Ran &&", new: "unused :=",
}, {
	name: "a node that may be in use does not count", file: "internal/core/fanout/unused.go",
	old: "case s.is == occupied:", new: "case false:",
}}
