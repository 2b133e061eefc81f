package driver

import (
	"context"
	"net"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// LoopbackAddr reports whether addr, host:port, never leads to another machine.
func LoopbackAddr(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Local does the work of [node.Local] on a new connection to a loopback address, and closes the connection. auth is the
// login.
//
// The server must see the connection as this process does. A proxy or a tunnel has a connection of its own to the
// server, and a container another address. The clock may have been wrong when the machine booted, and have leapt since.
// Then the server seems older than the machine.
func Local(ctx context.Context, c net.Conn, auth ...string) (run string) {
	answers, err := ask(ctx, c, auth, whoAreYou, clientInfo)
	up, known := clock.SinceBoot()
	if err != nil || !known {
		return ""
	}
	seen := map[string]string{}
	for f := range strings.FieldsSeq(answers[1]) {
		name, value, _ := strings.Cut(f, "=")
		seen[name] = value
	}
	id := serverOf(answers[0])
	if seen["addr"] != c.LocalAddr().String() || seen["laddr"] != c.RemoteAddr().String() || id.Up > up {
		return ""
	}
	return id.Run
}

// clientInfo asks a server how it sees the connection.
var clientInfo = Command("CLIENT", "INFO")
