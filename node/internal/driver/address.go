package driver

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// DefaultPort is the default port of a Redis server.
const DefaultPort = "6379"

// Address returns the name of a node: redis://host:port/db, rediss:// over TLS, or unix:///path?db=0. All clients of a
// node set must use the same names with every driver, because the default cluster name is made from the names.
func Address(network, addr string, tls bool, db int) string {
	if network == "unix" {
		return (&url.URL{Scheme: "unix", Path: addr, RawQuery: "db=" + strconv.Itoa(db)}).String()
	}
	scheme := "redis"
	if tls {
		scheme = "rediss"
	}
	return scheme + "://" + hostPort(addr) + "/" + strconv.Itoa(db)
}

func hostPort(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = strings.Trim(addr, "[]"), DefaultPort
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String() // one spelling for each IPv6 address
	}
	if host == "" {
		host = "localhost" // for the dialer, "" means localhost
	}
	return net.JoinHostPort(strings.ToLower(host), port)
}
