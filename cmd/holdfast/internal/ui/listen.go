package ui

import (
	"errors"
	"fmt"
	"net"
)

// ErrOpen means that the address is not on loopback, and TLS or the token is missing.
var ErrOpen = errors.New("others can reach this address")

// Listen listens at addr, such as "127.0.0.1:7390". local says whether only this machine reaches it. Other addresses
// need safe, which means TLS and a token: the error matches [ErrOpen] otherwise.
func Listen(addr string, safe bool) (l net.Listener, local bool, err error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, false, err
	}
	// A name such as "localhost" has been resolved by now, so the check is about the address that is used.
	if local = at.IP.IsLoopback(); !local && !safe {
		return nil, false, fmt.Errorf("%w: %s", ErrOpen, at)
	}
	l, err = net.ListenTCP("tcp", at)
	return l, local, err
}
