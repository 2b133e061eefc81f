package doctor

import (
	"net"
	"slices"
	"strings"
)

// member is a server of a Redis Cluster, as one server sees it.
type member struct {
	id, addr string
	self     bool   // the server that says this
	state    string // "", fail or fail?
	moves    []move // of self only
}

// move is a hash slot that is on its way between two servers.
type move struct {
	slot  string
	other string // the id of the other server
	away  bool   // it leaves this server; else it comes to it
}

// members reads an answer to CLUSTER NODES. It leaves out a line that it cannot read.
func members(text string) (list []member) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		flags := strings.Split(f[2], ",")
		m := member{id: f[0], addr: address(f[1]), self: slices.Contains(flags, "myself")}
		for _, state := range []string{"fail", "fail?"} {
			if slices.Contains(flags, state) {
				m.state = state
			}
		}
		for _, s := range f[8:] {
			in, is := strings.CutPrefix(strings.TrimSuffix(s, "]"), "[")
			if slot, id, away := strings.Cut(in, "->-"); is && away {
				m.moves = append(m.moves, move{slot, id, true})
			} else if slot, id, comes := strings.Cut(in, "-<-"); is && comes {
				m.moves = append(m.moves, move{slot, id, false})
			}
		}
		list = append(list, m)
	}
	return list
}

// address reads ip:port@cport,hostname and returns host:port.
func address(text string) string {
	endpoint, more, _ := strings.Cut(text, ",")
	endpoint, _, _ = strings.Cut(endpoint, "@")
	colon := strings.LastIndexByte(endpoint, ':')
	if colon < 0 {
		return endpoint
	}
	host, port := strings.Trim(endpoint[:colon], "[]"), endpoint[colon+1:]
	if name, _, _ := strings.Cut(more, ","); (host == "" || host == "?") && name != "?" && !strings.Contains(name, "=") {
		host = name
	}
	return net.JoinHostPort(host, port)
}
