// Command capacity says what a Redis Cluster of some shards carries: leases, locks a second, hand-offs, waiters and
// clients, and which limit comes first.
//
//	go run ./verify/capacity -shards 3,30,300 -clients 1000 -names 100000 -waiters 10000 -ttl 10s
//
// It has no server of its own. A model computes from measured costs: see [Constants]. A test measures them on small
// clusters of real processes, and then compares the model with larger runs that it has not seen:
//
//	make capacity           measures, checks, and prints
//	make capacity WRITE=1   the same, and writes measured.json and docs/results/capacity.md if all agrees
//	make capacity QUICK=1   tries the test with few of all, and demands nothing
//
// Each of them also writes both files to a directory of the temporary directory, while it runs. So a run that fails is
// not lost: see -capacity.out.
//
// The files:
//
//	constants.go      the costs, and measured.json with those of the last run
//	load.go           what clients want from a cluster
//	model.go          what that load costs a shard and a client
//	limits.go         what a shard and a client have, and what a cluster carries within that
//	check.go          comparisons of the model with measurements
//	fit.go            lines and curves through measured points
//	table.go          tables for a terminal and for a page
//	main.go           the command
//	report.go         the page in docs/results
//	capacity_test.go  the test that measures, compares and writes
//	worker_test.go    a process with clients
//	work_test.go      what such a process does for longer: waits, questions and cycles
//	process_test.go   such a process from the view of a test
//	server_test.go    the counters of a server
//	slice_test.go     what servers and clients did for some seconds
//	noise_test.go     what other programs of the machine did meanwhile
//	measure_test.go   the measurements on one shard, from which most costs come
//	idle_test.go      the costs of clients that do nothing
//	waiting_test.go   the costs of waiters, and of waking
//	topology_test.go  the costs of an answer to CLUSTER NODES, with servers that exist in name only
//	bus_test.go       the costs of the messages between servers
//	large_test.go     the larger runs, with which the model is compared
//	model_test.go     tests of the model; one demands that a wrong cost is found
//
// Each kind of work has a cost, and costs add up. One cost does not grow with the work: a client that sleeps between
// its messages wakes for each, but a busy one only some hundred times a second. The model leaves out faults, failovers,
// moves of hash slots, replication, and the network's delay. CPU is right within a factor of 2.5: see [roughly].
package main
