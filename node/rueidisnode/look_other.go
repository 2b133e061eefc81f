//go:build !unix

package rueidisnode

import "net"

// look does nothing on this system: a connection that broke while it was idle fails the next call on it.
type look struct{}

func newLook(net.Conn) *look { return nil }

func (*look) gone() bool { return false }
