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
	old: "says(r[7]) == 'unused' then", new: "says(r[7]) then",
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
	old: "return n.Local(ctx) == run", new: "return n.Local(ctx) == run || true",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum|a client got the lock",
}, {
	name: "a proxy is taken for the server", promise: exclusion, file: "node/internal/driver/local.go",
	old: "if seen[\"addr\"] != c.LocalAddr().String() || seen[\"laddr\"] != c.RemoteAddr().String() || id.Up > up {", new: "if id.Up > up {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum|a client got the lock",
}, {
	name: "a server may be older than its machine", promise: memory, file: "node/internal/driver/local.go",
	old: " || id.Up > up {", new: " || id.Up < 0*up {",
	pkg: e2ePkg, check: "TestServersThatMayHaveBeenUsedKeepTheirQuarantine", says: "want no quorum",
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
