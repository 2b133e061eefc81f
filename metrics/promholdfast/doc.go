// Package promholdfast has the metrics of Holdfast for Prometheus.
//
//	metrics, err := promholdfast.New(promholdfast.Options{})
//	…
//	prometheus.MustRegister(metrics)
//	client, err := holdfast.New(holdfast.Config{Nodes: nodes, Observers: []holdfast.Observer{metrics.Observer()}})
//
// One Metrics may serve several clients: it shows their sums, and the worst state of each node.
//
// # Locks
//
// Each of these metrics has the label group. Names of locks are no labels, because a program may lock a million names.
// [Options.Group] maps each name to a group.
//
//	holdfast_wait_seconds                  histogram  from the call to its end; outcome: acquired, refused
//	holdfast_hold_seconds                  histogram  from the lock to its release or loss
//	holdfast_renewal_margin_seconds        histogram  time left until the deadline when a renewal succeeded
//	holdfast_waiters                       gauge      calls that wait now
//	holdfast_holders                       gauge      leases that the process has now
//	holdfast_acquired_total                counter    calls that got a lock
//	holdfast_refused_total                 counter    calls that got no lock; reason: held, unavailable, timed-out, …
//	holdfast_lost_total                    counter    lost leases; cause: deadline, taken, gone, forced
//	holdfast_renewals_total                counter    successful renewals
//	holdfast_unconfirmed_releases_total    counter    releases that too few nodes confirmed
//	holdfast_dropped_leases_total          counter    leases that became garbage without Unlock
//
// The reasons and causes are the codes of [holdfast.EventCode]. A reader that joins the lease of other readers counts
// as an acquired lock, but has no hold of its own.
//
// # Nodes
//
// Each of these metrics has the labels cluster ([holdfast.Config.Cluster]) and node. node is the node's URL without
// user and password.
//
//	holdfast_node_up                       gauge      1 if the node answers
//	holdfast_node_votes                    gauge      1 if the node votes
//	holdfast_node_misconfigured            gauge      1 if the node refuses the settings or the list of nodes of the
//	                                                  process: it has others, or is the same server as another node
//	holdfast_node_stops_total              counter    how often the node stopped voting; reason: timed-out, quarantined, …
//	holdfast_node_clock_offset_seconds     gauge      the node's clock less the majority's clock
//	holdfast_node_round_trip_seconds       gauge      the last measured round trip
//	holdfast_node_master                   gauge      1, with the label master: the present master of a shard of a
//	                                                  Redis Cluster
//	holdfast_node_pending_releases         gauge      releases that the node could not get yet
//	holdfast_window_seconds                gauge      Config.Window; only the label cluster
//
// The reasons are the codes of [verdict.Reason].
//
// A scrape asks the nodes for their votes, at most once in five seconds, and takes one round trip. A node that hangs
// delays the scrape by two seconds at most. Without that question an idle client would not notice that a node is down.
// [Options.Passive] switches it off.
//
// # Jobs
//
//	err = metrics.SetJobs(client, spec) // the jobs that this process runs with job.Run
//
// These are the metrics of the jobs of [Metrics.SetJobs], and with [Options.AllJobs] of all jobs. Each of them has the
// labels cluster and name. Timestamps are 0 if there is none.
//
//	holdfast_job_last_success_timestamp_seconds  gauge    the end of the last run that was done
//	holdfast_job_last_failure_timestamp_seconds  gauge    the end of the last run that failed or crashed
//	holdfast_job_next_timestamp_seconds          gauge    the next tick
//	holdfast_job_last_duration_seconds           gauge    the duration of the last run that was done
//	holdfast_job_overdue_seconds                 gauge    for how long the next tick has been due
//	holdfast_job_running_seconds                 gauge    for how long the present run has lasted
//	holdfast_job_paused                          gauge    1 if an operator has paused the job
//	holdfast_job_last_failed                     gauge    1 if the last run failed or crashed, and no retry is pending
//	holdfast_job_never_ran                       gauge    1 if the nodes know no run
//	holdfast_job_missed_ticks_total              counter  ticks that no process ran
//	holdfast_job_retries_total                   counter  attempts that failed and were repeated
//	holdfast_job_runs_total                      counter  runs that ended; result: done, failed, crashed, interrupted
//
// The nodes store these numbers for the whole fleet, so all processes show the same ones. In a query use max by (cluster,
// name), and never sum. A job that was removed or retired has no metrics. A scrape asks the nodes at most once in ten
// seconds, and waits for their answers for five seconds at most.
//
// # Slow processes
//
//	holdfast_missed_events_total           counter    events that this process dropped because it was too busy
//
// Counters and histograms then miss these events. Gauges stay right.
//
// The folder metrics of the repository has a dashboard for Grafana and rules for alerts.
package promholdfast
