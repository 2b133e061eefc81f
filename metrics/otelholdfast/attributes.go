package otelholdfast

import (
	"net"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// The keys of attributes. The last three come from the semantic conventions of OpenTelemetry.
const (
	group   = attribute.Key("holdfast.lock.group")
	name    = attribute.Key("holdfast.lock.name")
	fence   = attribute.Key("holdfast.lock.fence")
	outcome = attribute.Key("holdfast.outcome")
	reason  = attribute.Key("holdfast.reason")
	cause   = attribute.Key("holdfast.cause")
	inSet   = attribute.Key("holdfast.cluster")

	errorType     = attribute.Key("error.type")
	serverAddress = attribute.Key("server.address")
	serverPort    = attribute.Key("server.port")
)

// server returns the attributes of a node. addr is its URL without user and password.
func server(cluster, addr string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{inSet.String(cluster)}
	u, err := url.Parse(addr)
	switch {
	case err != nil || u.Host == "" && u.Path == "":
		return append(attrs, serverAddress.String(addr))
	case u.Host == "":
		return append(attrs, serverAddress.String(u.Path))
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		return append(attrs, serverAddress.String(u.Hostname()))
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return append(attrs, serverAddress.String(addr))
	}
	return append(attrs, serverAddress.String(host), serverPort.Int(n))
}
