// Package check contains what only checks the lock. No program that uses the lock contains any of it.
//
//	e2e        tests of whole clients on real servers
//	redistest  real redis-server processes, and faults of them and of their network
//	nodemodel  one node in plain Go, the executable specification of the scripts
//	models     model checkers that visit every state of small configurations
//	bids       many bids against modelled nodes in one seeded loop, without goroutines
//	sim        simulated worlds: whole clients in virtual time, with faults from a seed
//	values     whole clients that load and store the value of a lock, in virtual time
//	fleet      package job with real processes on real servers
//	chaos      real processes and servers under real faults
//	fencing    holders that are stopped between their check and their write
//	mutants    weakens the lock one line at a time; a named test must notice each
package check
