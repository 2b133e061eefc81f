//go:build !unix

package driver

import "net"

// Dialer returns a dialer.
func Dialer() *net.Dialer { return &net.Dialer{} }
