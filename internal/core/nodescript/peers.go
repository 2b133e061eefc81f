package nodescript

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Peer is one server behind a client's list of nodes.
type Peer struct {
	ID   string // see [Hello]
	Addr string // from the client's configuration, without password
	Seen int64  // µs of stamp time: the server was alive then or later
}

// Peers is a node's view of the members of its node set.
type Peers struct {
	Time      int64
	ID        string   // the id of the node itself
	Strangers []string // ids in the client's list that are no members
	Members   []Peer
	Other     bool // the node has another configuration, which admit reports; it stores nothing of this report
	Late      bool // the report came too late, or the node's clock is off; it stores nothing of this report
}

const (
	reportFloor   = time.Second / 2
	reportCeiling = time.Second
	mostOfID      = 64
	mostOfAddr    = 128
)

// ReportEvery returns how often a client at work tells each node which servers it meets behind its list. If nodes are
// far away, one report takes nearly two windows.
func (c Config) ReportEvery() time.Duration {
	return max(2*c.Window, min(c.MaxTTL/8, reportCeiling), reportFloor)
}

// Trusted returns how long a client counts the votes of a server that it saw alive and that no node called a stranger.
// A report contains what the client saw before the previous report, and counts until the answer to the next one.
func (c Config) Trusted() time.Duration { return 3 * c.ReportEvery() }

// MemberKept returns how long a node keeps the place of an unseen member. For the time Trusted, a client may count the
// member's vote. For MaxTTL after that, the client may hold the lease that it got with this vote. The windows cover
// stamps that are off.
func (c Config) MemberKept() time.Duration { return c.Trusted() + c.MaxTTL + 4*c.Window }

// PeersCall reports the servers behind a client's list to a node. Send it with [PeersText]. stamp is the stamp time at
// which the call is sent. met is the id that the client met at the node itself, "" if the node had none.
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

// seen returns the time us, at which a client last saw a server, as nodes store it: rounded up to half a report
// interval. So a node stores its list only now and then, however many clients report.
func (c Config) seen(us int64) int64 {
	step := c.ReportEvery().Microseconds() / 2
	return (us + step - 1) / step * step
}

// CleanID returns an id in the form that nodes store. It comes from a server, which may be hostile.
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

// mostPeers exceeds the number of nodes in any node set.
const mostPeers = 64
