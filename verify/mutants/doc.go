// Command mutants weakens Holdfast one line at a time. A named test must notice each weakening: a promise is worthless
// if its mechanism can disappear unnoticed.
//
//	make mutants
//	go run ./verify/mutants -run 'quarantine|guard'
//
// The list is data: see [mutant]. A changed file replaces its original by go test -overlay, also for Lua files. The
// tree itself is never changed. Each check runs once without the weakening, and must pass. Then it runs with the
// weakening and must fail within a minute, with the words that the mutant names. A check that fails for another reason
// shows nothing.
//
// HOW in the printed table is "fails", or "bound" if the weakened lock waits forever and the check's own limit ends it.
// Three results kill no mutant: a compile error, a hang without a limit of the check, and a failure in other words.
//
// With -sim the mistakes are different, and no check is named for them. The simulation of verify/sim must find each
// by itself. The table says after how many attempts it did.
//
//	make sim-mutants
//
// A check shows the broken promise itself, on real redis-servers or in the core without I/O, if such a check exists. If
// only the comparison with the model of a node finds a weakening, its check is in internal/nodemodel.
package main
