package driver

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// LoopbackAddr reports whether addr, host:port, never leads to another machine. A host name may lead to several servers.
func LoopbackAddr(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// Local does the work of [node.Local] on a new connection to addr, which is a loopback address, and closes the
// connection. auth is the login.
//
// The server must see the connection as this process does. A proxy or a tunnel has a connection of its own to the
// server, and a container another address. And the process of the server must have been running for as long as the
// server says, by a clock that never leaps: the wall clock, from which the server calculates its uptime, may have been
// wrong at its start.
func Local(ctx context.Context, c net.Conn, addr string, auth ...string) (run string) {
	answers, err := ask(ctx, c, auth, whoAreYou, clientInfo)
	if err != nil {
		return ""
	}
	seen := map[string]string{}
	for f := range strings.FieldsSeq(answers[1]) {
		name, value, _ := strings.Cut(f, "=")
		seen[name] = value
	}
	if c.RemoteAddr().String() != addr || seen["addr"] != c.LocalAddr().String() || seen["laddr"] != addr {
		return ""
	}
	id := serverOf(answers[0])
	pid, err := strconv.Atoi(InfoField(answers[0], "process_id"))
	if err != nil {
		return ""
	}
	// The server counts whole seconds, one too many at times. It leaves out one itself: see quarantine.lua.
	if age, known := clock.AgeOf(pid, "redis-server", "valkey-server"); !known || id.Up-time.Second > age {
		return ""
	}
	return id.Run
}

// clientInfo asks a server how it sees the connection.
var clientInfo = Command("CLIENT", "INFO")
