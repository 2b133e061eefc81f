// Command bench compares Holdfast with other locks for Redis, and with what the
// server itself can do.
//
//	go run . all             everything, and results/<date>.md with an SVG chart
//	go run . all -quick      the same with shorter slices and fewer repetitions
//	go run . distinct        every goroutine has a name of its own
//	go run . hot             4 processes × 8 goroutines want one name
//	go run . sixteen         16 processes × 1 goroutine want one name, five nodes
//	go run . loopers         the same, each holding it for 1 ms
//	go run . handoffs        2, 20 and 200 processes wait: calls and idle time per hand-off
//	go run . patience        200 processes wait for a lock that is held for a minute
//	go run . profile         pprof of Holdfast, distinct names
//	go run . settings        what each system is configured with
//
// How a comparison is made fair: one set of redis-server processes for all systems;
// each system in worker processes of its own, which are up before the first slice, so
// that CPU can be attributed; slices of all systems take turns within each repetition,
// in a new order each time; a ratio is taken within a repetition, and its median and
// range over the repetitions are what is reported. Beside every slice stands the share
// of the machine's CPU that belonged to neither the workers nor the servers.
//
//	systems.go          who takes part, and with which settings
//	holdfast.go, redsync.go, redislock.go, rueidislock.go
//	limit.go            the physical limits: raw pipelining connections, no client library
//	limit_bare.go       … bare SET NX PX and compare-and-delete
//	limit_scripts.go    … Holdfast's own scripts
//	crowd.go            goroutines that lock and unlock during a slice
//	worker.go           a worker process; team.go: the processes of one system
//	server.go           redis-server processes
//	handoffs.go         what a hand-off takes: records.go pairs leases by their tokens,
//	                    pings.go knows what a round trip is
//	patience.go         what waiting takes, second by second; series.go: the buckets
//	workload.go         what is measured; plan.go: what is asked for; run.go: in which order
//	stats.go            medians, ratios; demands.go: what is demanded of them
//	report.go, report_waiting.go, chart.go: what is written
//	profile.go          pprof of Holdfast in a crowd
//
// chaos_test.go puts the same rivals under the faults of internal/check/chaos: make chaos-rivals.
package main
