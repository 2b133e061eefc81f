// Package nodetest is a test suite for drivers. It checks, with real redis-server processes, that a driver does what
// package node requires.
//
//	func TestConformance(t *testing.T) {
//		nodetest.Run(t, func(t *testing.T, url string) node.Node {
//			n, err := mydriver.New(url)
//			if err != nil {
//				t.Fatal(err)
//			}
//			return n
//		})
//	}
//
// [RunCluster] and [RunShard] are the suites of a driver that makes clusters.
//
// The suite needs redis-server 7 or later in the PATH.
package nodetest
