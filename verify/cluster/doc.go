// Package cluster runs a lock on a Redis Cluster of real processes under faults, and counts the holders that overlap.
//
// Three masters with a replica each serve the locks. Sixteen processes take locks of some names in all shards, and
// increment a counter under each. At the same time the slots of these names move back and forth, and a master is killed,
// restarted, frozen or replaced every 20 seconds.
//
// A process notes when it enters and leaves its critical section, on a clock that all processes of the machine share.
// A judge outside of Redis compares these stays:
//
//   - An overlap is a pair of stays of one name that have an instant in common. A stay ends with the lock's own deadline
//     at the latest, also if the process notices that later. So a busy machine makes stays shorter, and no overlap.
//   - A token is out of order if an earlier stay of the name has the same token or a higher one.
//   - A hold that ended before its holder wanted is lost. Its shard, or one that its slot came from or went to, must have
//     had a fault until at most a TTL before.
//   - An increment is lost if the counter of a name is lower than the number of writes.
//
// A run prints these numbers, and for how long nobody got a lock of the shard after each fault.
//
//	make cluster SYSTEM=redsync T=5m
//
// Other libraries are the controls: see [systems]. They may overlap, and Holdfast may not. The package is for Linux.
package cluster
