//go:build !unix

package rueidisnode

import "net"

// look does nothing on this system. If a connection broke while it was idle, only the next call finds that out, and
// fails.
type look struct{}

func newLook(net.Conn) *look { return nil }

func (*look) gone() bool { return false }
