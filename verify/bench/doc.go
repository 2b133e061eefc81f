// Command bench compares Holdfast with other locks for Redis, and with the limits of the server.
//
//	go run . all             everything, and results/<date>.md with an SVG chart
//	go run . all -quick      the same with shorter slices and fewer repetitions
//	go run . distinct        every goroutine locks its own name
//	go run . hot             4 processes × 8 goroutines lock one name
//	go run . sixteen         16 processes × 1 goroutine lock one name, five nodes
//	go run . loopers         the same, and each holds the lock for 1 ms
//	go run . handoffs        2, 20 and 200 processes wait: calls and idle time per hand-off
//	go run . patience        200 processes wait for a lock that is held for a minute
//	go run . shared          readers beside writers: free names, and 64 goroutines on one name
//	go run . profile         pprof of Holdfast, distinct names
//	go run . settings        the settings of each system
//
// These rules make a comparison fair. All systems use the same redis-server processes. Each system has its own worker
// processes, so that its CPU time is known; they start before the first slice. Within each repetition the slices of all
// systems take turns, each time in a new order. A ratio is computed within a repetition. The report has its median and
// its range over the repetitions. It also has the share of the machine's CPU that neither the workers nor the servers
// used.
//
// The state of the machine is a part of a result. On a virtual machine, an idle CPU needs 50 to 100 µs to wake up, which
// hides all other costs of a lone caller. So the CPUs are awake by default (-cpus awake), and -cpus asis measures
// them as they are. -pin separates servers from clients, and -delay 300us moves them apart. all measures a lone caller
// with -cpus asis and with -delay 300us, too.
//
//	systems.go          the systems and their settings
//	holdfast.go, redsync.go, redislock.go, rueidislock.go
//	limit.go            the physical limits: raw pipelining connections, no client library
//	limit_bare.go       … bare SET NX PX and compare-and-delete
//	limit_scripts.go    … Holdfast's own scripts; limit_together.go: several calls in one
//	crowd.go            goroutines that lock and unlock during a slice
//	worker.go           a worker process; team.go: the processes of one system
//	state.go            the states of the machine; stage.go: servers, and what makes a state
//	cpus_linux.go       pins processes, and keeps CPUs awake; otheros.go: other systems than Linux
//	relay_linux.go      delays what clients and servers send
//	server.go           redis-server processes
//	handoffs.go         the cost of a hand-off; records.go pairs leases by their tokens,
//	                    pings.go measures a round trip
//	patience.go         the cost of waiting, second by second; series.go: the buckets
//	shared.go           readers beside writers
//	workload.go         the workloads; main.go, plan.go: the flags; run.go: the order of the slices
//	about.go            the machine and the versions; usage.go: CPU time
//	histogram.go        durations in buckets
//	stats.go            medians and ratios; demands.go: the bounds for them
//	report.go, report_waiting.go, chart.go: the report and its chart
//	profile.go          pprof of Holdfast in a crowd
//
// chaos_test.go puts the same rivals under the faults of verify/chaos: make chaos-rivals.
package main
