// Package otelholdfast has the metrics and traces of Holdfast for OpenTelemetry.
//
//	metrics, err := otelholdfast.NewMetrics(otelholdfast.MetricsOptions{})
//	…
//	traces := otelholdfast.NewTraces(otelholdfast.TracesOptions{})
//	client, err := holdfast.New(holdfast.Config{
//		Nodes: nodes, Observers: []holdfast.Observer{metrics.Observer(), traces.Observer()},
//	})
//
// Several clients may share one Metrics and one Traces.
//
// # Metrics of locks
//
// Each of these metrics has the attribute holdfast.lock.group. Names of locks are no attributes, because a program may
// lock a million names. [MetricsOptions.Group] maps each name to a group. Times are in seconds.
//
//	holdfast.lock.wait.duration     histogram  from the call to its end; holdfast.outcome: acquired, refused
//	holdfast.lock.hold.duration     histogram  from the lock to its end; holdfast.outcome: released, lost
//	holdfast.lease.renewal.margin   histogram  time left until the deadline when a renewal succeeded
//	holdfast.lock.waiters           up-down    calls that wait now
//	holdfast.lock.holders           up-down    leases that the process has now
//	holdfast.lock.acquired          counter    calls that got a lock
//	holdfast.lock.refused           counter    calls that got no lock; holdfast.reason: held, unavailable, …
//	holdfast.lease.lost             counter    lost leases; holdfast.cause: deadline, taken, gone, forced
//	holdfast.lease.renewals         counter    successful renewals
//	holdfast.lease.unconfirmed      counter    releases that too few nodes confirmed
//	holdfast.lease.dropped          counter    leases that became garbage without Unlock
//	holdfast.events.missed          counter    events that this process dropped because it was too busy; no group
//
// # Metrics of nodes
//
// Each of these metrics has the attributes holdfast.cluster, server.address and server.port. For a Unix socket
// server.address is the path, and there is no server.port. For a node behind Sentinels server.address is its URL. A
// node in another database than 0 also has db.namespace, the number of the database.
//
//	holdfast.node.up                   gauge      1 if the node answers
//	holdfast.node.votes                gauge      1 if the node votes
//	holdfast.node.misconfigured        gauge      1 if the node refuses the settings or the list of nodes of the process
//	holdfast.node.stops                counter    how often the node stopped voting; holdfast.reason: timed-out, …
//	holdfast.node.clock.offset         gauge      the node's clock less the majority's clock
//	holdfast.node.round_trip.duration  gauge      the last measured round trip
//	holdfast.node.master               gauge      1, with holdfast.master: the present master of a shard of a Redis Cluster
//	holdfast.node.releases.pending     up-down    releases that the node could not get yet
//	holdfast.window                    gauge      Config.Window; only holdfast.cluster
//
// A collection asks the nodes for their votes, at most once in five seconds, as in package promholdfast.
//
// # Metrics of jobs
//
// These are the metrics of the jobs of [Metrics.SetJobs], and with [MetricsOptions.AllJobs] of all jobs. Each of them has
// the attributes holdfast.cluster and holdfast.job.name. Times are in seconds, and 0 if there is none.
//
//	holdfast.job.last_success.time  gauge    the end of the last run that was done, since 1970
//	holdfast.job.last_failure.time  gauge    the end of the last run that failed or crashed
//	holdfast.job.next.time          gauge    the next tick
//	holdfast.job.last.duration      gauge    the duration of the last run that was done
//	holdfast.job.overdue            gauge    for how long the next tick has been due
//	holdfast.job.running            gauge    for how long the present run has lasted
//	holdfast.job.paused             gauge    1 if an operator has paused the job
//	holdfast.job.last_failed        gauge    1 if the last run failed or crashed, and no retry is pending
//	holdfast.job.never_ran          gauge    1 if the nodes know no run
//	holdfast.job.ticks.missed       counter  ticks that no process ran
//	holdfast.job.retries            counter  attempts that failed and were repeated
//	holdfast.job.runs               counter  runs that ended; holdfast.job.result: done, failed, crashed, interrupted
//
// The nodes store these numbers for the whole fleet, so all processes show the same ones: never add them up.
//
// # Traces
//
// There is one span for each call that waits for a lock ("holdfast wait"), and one for each lease ("holdfast hold").
// The hold has a link to its wait. Both are children of the span in the context of the call. The attributes:
//
//	holdfast.lock.name   the name of the lock, without Config.Prefix
//	holdfast.lock.fence  the fencing token, if there is a lease
//	holdfast.outcome     acquired or refused for a wait; released, lost or unknown for a hold
//	holdfast.reason      why a wait was refused
//	holdfast.cause       why a lease was lost
//	error.type           the reason or cause, if the span has the status Error
//
// A wait has the status Error if too few nodes answered. A hold has it if the lease was lost. A reader that joins the
// lease of other readers has a wait and no hold.
package otelholdfast
