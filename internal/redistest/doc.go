// Package redistest runs real redis-server processes for tests and does to them
// what production does: kills, restarts, freezes them, shifts their clocks, and
// breaks the network in front of them.
//
//	s := redistest.Start(t)
//	s.MustDo(t, "SET", "k", "v")
//	s.Freeze() // the process stops; its connections stay open
//	s.Thaw()
//
// Servers bind loopback only, keep nothing on disk unless [Durable], and are gone
// when the test ends, also when the test binary itself is killed. [NewProxy] stands
// in front of a server to delay, swallow, cut and reorder traffic.
//
// It is for Linux. Elsewhere everything but Freeze, the clock and [DeadEnd] works.
package redistest
