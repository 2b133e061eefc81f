//go:build !unix

package rueidisnode

import "net"

// look does nothing on this system. So if a connection broke while it was idle, the next call on it fails.
type look struct{}

func newLook(net.Conn) *look { return nil }

func (*look) gone() bool { return false }
