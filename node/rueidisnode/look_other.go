//go:build !unix

package rueidisnode

import "net"

// look is missing here: a connection that broke while idle fails the next call on it.
type look struct{}

func newLook(net.Conn) *look { return nil }

func (*look) gone() bool { return false }
