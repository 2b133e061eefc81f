package main

// complete is the promise of a list.
const complete = "a list has each lock that is held all the time, once"

// byOperators are weakenings of what an operator uses.
var byOperators = []mutant{{
	name: "a list leaves names to a node that forgot", promise: complete, file: "lister.go",
	old: "if l.kept[i] && memory != l.memory[i] {", new: `if l.kept[i] && memory == "?" {`,
	pkg: e2ePkg, check: "TestAListIsCompleteAlthoughANodeForgets", says: "names, want 50",
}, {
	name: "a list forgets what it has listed", promise: complete, file: "lister.go",
	old: "if !l.options.selects(s) || !l.listed.add(some[k].Record()) {", new: "if !l.options.selects(s) || l.listed.add(some[k].Record()) && false {",
	pkg: e2ePkg, check: "TestAListHasANameThatReachesAnotherNodeMeanwhile/a_later_node", says: "x is listed twice",
}, {
	name: "a list leaves a name to an earlier node", promise: complete, file: "lister.go",
	old: "for j := len(l.alive) - 1; j > i && len(list) > 0; j-- {", new: "for j := i - 1; j >= 0 && len(list) > 0; j-- {",
	pkg: e2ePkg, check: "TestAListHasANameThatReachesAnotherNodeMeanwhile/an_earlier_node", says: "want x",
}}
