package nodescript

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Peer is one server behind a client's list of nodes.
type Peer struct {
	ID   string // the id of the server: see [Hello]
	Addr string // the address in the client's configuration, without the password
	Seen int64  // an instant in µs of stamp time at which the server was alive
}

// Peers is a node's answer to a report: the members that it keeps, and the strangers in the report.
type Peers struct {
	Time      int64
	ID        string   // the id of the node itself
	Strangers []string // ids in the report that are not members
	Members   []Peer
	Other     bool // the node has another configuration, and stored nothing of the report
	Late      bool // the report came too late, or the node's clock is wrong; the node stored nothing of the report
}

const (
	reportFloor   = time.Second / 2
	reportCeiling = time.Second
	mostOfID      = 64
	mostOfAddr    = 128
)

// ReportEvery returns the pause between two reports of a client at work. In a report the client tells each node which
// servers are behind its list. If a node hangs, a report takes up to 17/8 of a window. The pause must be longer than
// that. Otherwise votes would cease to count too early: they count because of the last report, until the next report
// has succeeded.
func (c Config) ReportEvery() time.Duration {
	return max(5*c.Window/2, min(c.MaxTTL/8, reportCeiling), reportFloor)
}

// Trusted returns the time for which a client counts a server's vote. It begins when the client last saw the server
// alive before a successful report in which no node called the server a stranger. This must be three intervals. What a
// report says may be one interval old when the client sends it. The report must count for another interval until the
// client sends the next one, and for up to a third one until that has succeeded.
func (c Config) Trusted() time.Duration { return 3 * c.ReportEvery() }

// MemberKept returns the time for which a node keeps the place of a member that no client sees. A client may count the
// member's vote for the time Trusted, and then hold a lease that it got with this vote for MaxTTL. The four windows
// allow for stamps that are wrong.
func (c Config) MemberKept() time.Duration { return c.Trusted() + c.MaxTTL + 4*c.Window }

// PeersCall reports to a node which servers are behind the client's list. Send it with [PeersText]. stamp is the
// present stamp time. met is the id of the server that the client met at this node, or "".
func PeersCall(c Config, stamp int64, met string, list []Peer) node.Call {
	w := c.Window.Microseconds()
	args := []string{
		Micros(stamp - w), Micros(stamp + w), c.String(), strconv.Itoa(c.N),
		strconv.FormatInt(c.MemberKept().Microseconds(), 10), strconv.FormatInt((GuardKept + c.MemberKept()).Milliseconds(), 10),
		met,
	}
	for _, p := range list {
		args = append(args, CleanID(p.ID), Micros(c.seen(p.Seen)), cleanWord(p.Addr, mostOfAddr))
	}
	return node.Call{Args: args}
}

// seen returns the instant us at which a server was seen, rounded up to half a report interval. So most reports
// contain nothing new, and the node need not write its list each time.
func (c Config) seen(us int64) int64 {
	step := c.ReportEvery().Microseconds() / 2
	return (us + step - 1) / step * step
}

// CleanID returns an id in the form that nodes store. The id comes from a server, which may be hostile.
func CleanID(id string) string { return cleanWord(id, mostOfID) }

func cleanWord(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, s)
	if s == "" {
		return "_"
	}
	return s[:min(len(s), most)]
}

// ParsePeers reads the reply to peers.
func ParsePeers(r node.Reply) (p Peers, err error) {
	bad := Unreadable("unreadable answer to peers; is this Redis or Valkey?")
	switch {
	case r.Err != nil:
		return p, r.Err
	case r.Value == "M":
		return Peers{Other: true}, nil
	case len(r.Value) < 1+digits || r.Value[0] != 'P' && r.Value[0] != 'O':
		return p, bad
	}
	p.Late = r.Value[0] == 'O'
	lines := strings.Split(strings.Clone(r.Value[1+digits:]), "\n")
	if p.Time, err = parseMicros(r.Value[1 : 1+digits]); err != nil || len(lines) < 2 || len(lines) > mostPeers+3 {
		return Peers{}, bad
	}
	if p.ID = lines[0]; p.ID != "" {
		p.ID = CleanID(p.ID)
	}
	for id := range strings.FieldsSeq(lines[1]) {
		if len(p.Strangers) == mostPeers {
			return Peers{}, bad
		}
		p.Strangers = append(p.Strangers, CleanID(id))
	}
	for _, line := range lines[2:] {
		if f := strings.Fields(line); len(f) == 3 {
			seen, _ := parseMicros(f[0])
			p.Members = append(p.Members, Peer{ID: CleanID(f[1]), Addr: cleanWord(f[2], mostOfAddr), Seen: seen})
		}
	}
	return p, nil
}

// mostPeers is larger than the number of nodes in any node set.
const mostPeers = 64
