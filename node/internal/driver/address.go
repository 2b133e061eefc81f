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

// Address returns the name of a node: redis://host:port/db, rediss:// with TLS, or unix:///path?db=0. The default of
// Config.Cluster is a hash of these names. So all drivers must make the same names. Otherwise two clients with
// different drivers would not accept each other's configuration.
func Address(network, addr string, tls bool, db int) string {
	if network == "unix" {
		return (&url.URL{Scheme: "unix", Path: addr, RawQuery: "db=" + strconv.Itoa(db)}).String()
	}
	scheme := "redis"
	if tls {
		scheme = "rediss"
	}
	return scheme + "://" + HostPort(addr, DefaultPort) + "/" + strconv.Itoa(db)
}

// HostPort returns the one spelling of a host and a port that all drivers use. Without a port in addr it uses
// defaultPort.
func HostPort(addr, defaultPort string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = strings.Trim(addr, "[]"), defaultPort
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String() // a dialer treats ::ffff:10.0.0.1 as 10.0.0.1
	}
	if host == "" {
		host = "localhost" // a dialer treats "" as localhost
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		port = strconv.FormatUint(n, 10) // without leading zeros
	}
	return net.JoinHostPort(strings.ToLower(host), port)
}
