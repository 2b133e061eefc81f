package otelholdfast

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// The keys of attributes. The last four come from the semantic conventions of OpenTelemetry.
const (
	group    = attribute.Key("holdfast.lock.group")
	name     = attribute.Key("holdfast.lock.name")
	fence    = attribute.Key("holdfast.lock.fence")
	outcome  = attribute.Key("holdfast.outcome")
	reason   = attribute.Key("holdfast.reason")
	cause    = attribute.Key("holdfast.cause")
	inSet    = attribute.Key("holdfast.cluster")
	inMaster = attribute.Key("holdfast.master")

	errorType     = attribute.Key("error.type")
	serverAddress = attribute.Key("server.address")
	serverPort    = attribute.Key("server.port")
	namespace     = attribute.Key("db.namespace")
)

// server returns the attributes of a node. addr is its URL without user and password. Two nodes never have the same
// attributes. If the URL is the URL of a server, server.address has its host or path. For a node behind Sentinels,
// server.address has the whole URL, because masters with different names may be behind the same Sentinels.
func server(cluster, addr string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{inSet.String(cluster)}
	u, err := url.Parse(addr)
	if err != nil {
		return append(attrs, serverAddress.String(addr))
	}
	db := strings.TrimPrefix(u.Path, "/")
	switch u.Scheme {
	case "redis", "rediss":
		host, port, err := net.SplitHostPort(u.Host)
		n, nerr := strconv.Atoi(port)
		if err != nil || nerr != nil {
			return append(attrs, serverAddress.String(addr))
		}
		attrs = append(attrs, serverAddress.String(host), serverPort.Int(n))
	case "unix":
		db = u.Query().Get("db")
		attrs = append(attrs, serverAddress.String(u.Path))
	default:
		return append(attrs, serverAddress.String(addr))
	}
	if db != "" && db != "0" {
		attrs = append(attrs, namespace.String(db))
	}
	return attrs
}
