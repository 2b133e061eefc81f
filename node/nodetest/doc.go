// Package nodetest is the conformance suite for drivers. It tests the promises of package node against real
// redis-server processes.
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
// It needs redis-server 7 or newer in the PATH.
package nodetest
