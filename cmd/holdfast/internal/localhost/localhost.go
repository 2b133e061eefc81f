package localhost

import (
	"net"
	"net/netip"
	"strings"
)

// Names reports whether the host of a request is localhost or a loopback address, with any port or none.
func Names(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Listens reports whether only this machine reaches an address at which a server listens.
func Listens(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
