package nodescript

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Peer is one server behind a client's list of nodes.
type Peer struct {
	ID   string // see [Hello]
	Addr string // as the client's configuration has it, without password
	Seen int64  // µs of stamp time: it was alive then, or later
}

// Peers is what a node knows of its node set's members.
type Peers struct {
	Time      int64
	ID        string   // the node's own
	Strangers []string // ids of the client's list that are no members
	Members   []Peer
	Other     bool // the node has another configuration, of which admit tells; it keeps nothing of this client
}

const (
	reportFloor   = time.Second / 2
	reportCeiling = time.Second
	mostOfID      = 64
	mostOfAddr    = 128
)

// ReportEvery is how often a client at work tells each node which servers it meets behind its list. Where nodes are far
// away a report takes nearly two windows.
func (c Config) ReportEvery() time.Duration {
	return max(2*c.Window, min(c.MaxTTL/8, reportCeiling), reportFloor)
}

// Trusted is for how long a client counts the votes of a server that it saw alive and that no node called a stranger. A
// report tells what the one before saw, and is good until the next one was answered.
func (c Config) Trusted() time.Duration { return 3 * c.ReportEvery() }

// MemberKept is for how long a node keeps the place of a member that nobody sees alive: a client may count
// its vote for Trusted, and hold what it got by that for MaxTTL more.
func (c Config) MemberKept() time.Duration { return c.Trusted() + c.MaxTTL + 4*c.Window }

// PeersCall tells a node of the servers behind a client's list; sent with [PeersText]. stamp is drawn, or
// taken, when the call is sent. met is the id of the node itself, as it was met; "": it had none.
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

// seen is a time of a last sight as nodes keep it, up to half a report late: so they need to store it only now and then,
// however many clients report.
func (c Config) seen(us int64) int64 {
	step := c.ReportEvery().Microseconds() / 2
	return (us + step - 1) / step * step
}

// CleanID is an id as nodes keep it. It comes from a server, which may be hostile.
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
	case len(r.Value) == 1+digits && r.Value[0] == 'O':
		return p, errors.New("the call arrived too late, or its clock is off")
	case len(r.Value) < 1+digits || r.Value[0] != 'P':
		return p, bad
	}
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

// mostPeers is more than a node set may have nodes.
const mostPeers = 64
