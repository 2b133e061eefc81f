package doctor

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// roles examines the role of each server, and its replicas.
func (e *exam) roles(alive []*patient) {
	if e.Cluster != nil {
		for _, p := range alive {
			p.roleInShard()
		}
		return
	}
	for _, p := range alive {
		p.role(p.masterAmong(alive))
		var listed []*patient
		for _, q := range alive {
			if q.masterAmong(alive) == p {
				listed = append(listed, q)
			}
		}
		p.replication(listed)
	}
}

func (p *patient) isReplica() bool { return p.info["role"] != "master" }

// masterAmong returns the node whose data this replica copies, or nil if the master is not one of these nodes or if the
// server is no replica. It compares the history of the data, because a server may have several addresses. A replica
// has the history of its master only after the first copy, so masterAmong also compares the addresses.
func (p *patient) masterAmong(all []*patient) *patient {
	if !p.isReplica() {
		return nil
	}
	address := net.JoinHostPort(strings.ToLower(p.info["master_host"]), p.info["master_port"])
	for _, q := range all {
		history := q.info["master_replid"]
		if q != p && !q.isReplica() && (history != "" && history == p.info["master_replid"] || q.hostPort() == address) {
			return q
		}
	}
	return nil
}

// hostPort returns the host and the port of the node's URL, "" for a socket.
func (p *patient) hostPort() string { return hostPort(p.node) }

func hostPort(n node.Node) string {
	u, err := url.Parse(n.Addr())
	if err != nil {
		return ""
	}
	return u.Host
}

// role examines the role of the server. If it is a replica of another node in the list, master is that node, else nil.
func (p *patient) role(master *patient) {
	switch {
	case p.info["cluster_enabled"] == "1":
		p.find("role", Bad, "runs in Redis Cluster mode, and its URL is that of a single server",
			"name the cluster by one URL in all clients: redis+cluster://"+p.hostPort()+", or several of its servers, separated by commas (docs/guide/cluster.md)")
	case p.isReplica():
		its := net.JoinHostPort(p.info["master_host"], p.info["master_port"])
		state, fix := "is a replica of "+its, "list its master, "+shell(its)+", in place of it, in all clients; or make it a node of its own: "
		if master != nil {
			state = "is a replica of " + master.node.Addr() + ", which is also a node of this list"
			fix = "take it out of the list of all clients; or make it a node of its own: "
		}
		p.find("role", Bad, state+"; it does not vote, because a node must be a master of its own",
			fix+p.lasting("also leave replicaof out where you start it", "REPLICAOF NO ONE")+"; "+p.silent())
	default:
		p.find("role", OK, "master", "")
	}
}

// declared returns the declaration of the node's replicas.
func (p *patient) declared() (r node.Replication) {
	if p.Cluster != nil {
		return p.Cluster.Replication()
	}
	if n, is := p.node.(node.Replicated); is {
		r = n.Replication()
	}
	return r
}

// replication compares the replicas of the server with the declaration of the node. listed are the replicas that are
// also nodes of the list.
func (p *patient) replication(listed []*patient) {
	n := p.number("connected_slaves")
	declared := p.declared()
	if len(listed) > 0 {
		var names []string
		for _, q := range listed {
			names = append(names, q.node.Addr())
		}
		p.find("replication", Note, fmt.Sprintf("a replica of this node is also in the list of nodes (%s); it does not vote, so at most %d of %d nodes vote",
			strings.Join(names, ", "), len(p.Nodes)-len(listed), len(p.Nodes)), "see the check role of "+strings.Join(names, " and of "))
	}
	switch {
	case n < int64(declared.Replicas):
		p.find("replication", Bad, fmt.Sprintf("%s, but a grant counts only if %d have it (wait=%[2]d): nobody gets a lock", printable.Count(n, "replica"), declared.Replicas),
			"start the replicas, or lower wait in the URL of all clients")
	case declared.Declared && n == 0:
		p.find("replication", Warn, "it is declared replicated, and has no replica that could be promoted", "start a replica, or leave replicated=true out")
	case declared.Declared:
		p.find("replication", OK, printable.Count(n, "replica")+", as declared; one that is promoted has a quarantine", "")
	case n > int64(len(listed)):
		p.find("replication", Note, printable.Count(n, "replica")+", without a vote; one that is promoted has a quarantine",
			"nothing, if nobody promotes them; else declare it: ?replicated=true or redis+sentinel:// in the URL")
	case len(listed) == 0:
		p.find("replication", OK, "no replicas", "")
	}
}
