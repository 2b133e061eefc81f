// Package embedded runs a Redis node inside this process, for tests, development and the demo. It is miniredis with
// extensions that Holdfast's admission needs. Package holdfasttest starts such nodes for a test.
//
//	server, err := embedded.Start("127.0.0.1:7001")
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	nodes, err := rueidisnode.Open(server.URL())
//
// It keeps locks in memory as a real node does, and runs the same scripts. A test compares it with redis-server. It is
// only good for the functions of Redis that Holdfast uses. It is slow: a script takes about 0.3 ms, and more if there
// are a thousand keys.
package embedded
