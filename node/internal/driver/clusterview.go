package driver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

// This file reads what one server of a Redis Cluster says about the cluster.

// view is the answer of one server to CLUSTER NODES.
type view struct {
	self    string   // the id of the server that answered
	members []member // the servers that have an address, and are known to belong to the cluster
	spans   []span   // the hash slots that have an owner among members; sorted, without overlaps
	epoch   uint64   // the config-epoch of the server that answered; that of its master if it is a replica
	data    string   // its replication id if it is a master; "" if it did not tell that
}

// member is one server of a cluster, as one server sees it.
type member struct {
	id, addr string
	master   string // the id of its master; "" if it is a master, nobody if its master is not known
	state    string // "", or fail or fail?
}

// nobody is the master of a replica whose master was forgotten with CLUSTER FORGET.
const nobody = "-"

// span is a row of hash slots with one owner.
type span struct {
	from, to int    // the first and the last slot
	owner    string // the id of a server
	epoch    uint64 // the config-epoch of the owner
}

// lists reports whether the view has a server with this id.
func (v *view) lists(id string) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return m.id == id })
}

// replica reports whether the server that answered is a replica.
func (v *view) replica() bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return m.id == v.self && m.master != "" })
}

// errNodes is in each error of parseView.
var errNodes = errors.New("unreadable answer to CLUSTER NODES")

// parseView reads an answer to CLUSTER NODES. dialled is the host:port of the server that gave it: a server that does
// not know its own host leaves it out. An answer with any unreadable line is an error, because a part of a topology may
// be wrong.
// https://redis.io/docs/latest/commands/cluster-nodes/
func parseView(text, dialled string) (v view, err error) {
	for line := range strings.Lines(text) {
		if err := v.read(strings.Fields(line), dialled); err != nil {
			return view{}, fmt.Errorf("%w: %w in %.80q", errNodes, err, line)
		}
	}
	slices.SortFunc(v.spans, func(a, b span) int { return a.from - b.from })
	for i := range v.spans[min(1, len(v.spans)):] {
		if v.spans[i].to >= v.spans[i+1].from {
			return view{}, fmt.Errorf("%w: two owners of the hash slot %d", errNodes, v.spans[i+1].from)
		}
	}
	if v.self == "" {
		return view{}, fmt.Errorf("%w: no server has the flag myself", errNodes)
	}
	return v, nil
}

// Places of the fields of a line.
const (
	atID = iota
	atAddr
	atFlags
	atMaster
	atPing
	atPong
	atEpoch
	atLink
	atSlots
)

// read reads one line. It leaves out a server in a handshake, which has no id yet, and a server without an address.
func (v *view) read(fields []string, dialled string) error {
	if len(fields) < atSlots {
		return fmt.Errorf("%d fields", len(fields))
	}
	m := member{id: fields[atID]}
	flags := strings.Split(fields[atFlags], ",")
	is := func(flag string) bool { return slices.Contains(flags, flag) }
	epoch, err := strconv.ParseUint(fields[atEpoch], 10, 64)
	switch {
	case !isID(m.id):
		return errors.New("no id")
	case err != nil:
		return errors.New("no config-epoch")
	case is("handshake"):
		return nil
	case is("master") == is("slave"):
		return errors.New("neither a master nor a replica")
	case v.lists(m.id):
		return errors.New("the same id twice")
	}
	if is("slave") {
		if m.master = fields[atMaster]; m.master != nobody && !isID(m.master) {
			return errors.New("a replica without a master")
		}
	}
	for _, state := range []string{"fail", "fail?"} {
		if is(state) {
			m.state = state
		}
	}
	if is("myself") {
		if v.self != "" {
			return errors.New("the flag myself twice")
		}
		v.self, v.epoch = m.id, epoch
	}
	if is("noaddr") && !is("myself") {
		return nil
	}
	if m.addr, err = announced(fields[atAddr], dialled); err != nil {
		return err
	}
	v.members = append(v.members, m)
	return v.own(m, epoch, fields[atSlots:])
}

// own reads the hash slots of a member. A slot in brackets is being moved: its owner is in another field.
func (v *view) own(m member, epoch uint64, slots []string) error {
	if len(slots) > 0 && m.master != "" {
		return errors.New("a replica with hash slots")
	}
	for _, text := range slots {
		if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
			continue
		}
		first, last, several := strings.Cut(text, "-")
		if !several {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || from > to || to >= node.Slots {
			return fmt.Errorf("the hash slots %.20q", text)
		}
		v.spans = append(v.spans, span{int(from), int(to), m.id, epoch})
	}
	return nil
}

// isID reports whether a text is the id of a server: 40 hexadecimal digits.
func isID(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// announced reads ip:port@cport,hostname,… and returns host:port. Redis 3 has no @cport, and Redis before 7 no hostname.
// A server without a host is at the host that was dialled.
func announced(text, dialled string) (string, error) {
	endpoint, more, _ := strings.Cut(text, ",")
	name, _, _ := strings.Cut(more, ",")
	if strings.Contains(name, "=") { // a field of Redis 7.2 or Valkey, such as shard-id=…
		name = ""
	}
	endpoint, _, _ = strings.Cut(endpoint, "@")
	colon := strings.LastIndexByte(endpoint, ':') // the host may be an IPv6 address without brackets
	if colon < 0 {
		return "", errors.New("no address")
	}
	host, port := strings.Trim(endpoint[:colon], "[]"), endpoint[colon+1:]
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("no port")
	}
	if host == "?" || host == "" {
		host = name
	}
	if host == "?" || host == "" {
		host, _, _ = net.SplitHostPort(dialled)
	}
	return HostPort(net.JoinHostPort(host, port), port), nil
}
