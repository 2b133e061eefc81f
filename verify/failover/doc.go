// Package failover promotes replicas under load. Real Sentinels promote them, after a test has killed or frozen the
// master, or because the test asks for it. The test counts leases that overlap or are lost, and measures for how long
// nobody gets a lock. See docs/guide/limits.md, One endpoint with failover.
package failover
