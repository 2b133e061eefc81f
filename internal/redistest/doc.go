// Package redistest runs real redis-server processes for tests. It does to them what happens in production: it kills,
// restarts and freezes them, shifts their clocks, and breaks their network.
//
//	s := redistest.Start(t)
//	s.MustDo(t, "SET", "k", "v")
//	s.Freeze() // the process stops; its connections stay open
//	s.Thaw()
//
// Servers bind loopback only and store nothing on disk unless [Durable]. They end with the test, even if the test
// binary is killed. [StartFailover] adds replicas and Sentinels, and [StartCluster] joins servers to a Redis Cluster
// whose slots move and whose masters change. [NewProxy] adds a proxy before a server to delay, swallow, cut and reorder traffic.
//
// The package is for Linux. On other systems everything works except Freeze, the clock and [DeadEnd].
package redistest
