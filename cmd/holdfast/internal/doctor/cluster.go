package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file examines a Redis Cluster. Each of its servers is a patient.

// server is a server of a cluster, as the topology describes it.
type server struct {
	node.ClusterServer
	shard  *node.Shard
	master bool
	view   []member // its own answer to CLUSTER NODES; nil: none
}

// expand finds the servers of the cluster, and makes a node for each. The result closes them.
func (e *exam) expand(ctx context.Context) (closeAll func()) {
	whole := e.URLs[0]
	e.URLs, e.Nodes, e.Anonymous, e.servers = nil, nil, nil, map[string]*server{}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if e.topology, e.lost = e.Cluster.Look(bounded); e.lost == nil && len(e.topology.Shards) == 0 {
		e.topology, e.lost = nil, node.ErrNoSlots
	}
	if e.lost != nil {
		e.URLs = []string{whole}
		e.Nodes, e.Anonymous = []node.Node{nowhere{Node: e.Cluster, err: e.lost}}, []node.Node{nil}
		return func() {}
	}
	for _, s := range e.topology.Shards {
		e.add(&server{ClusterServer: s.Master, shard: s, master: true}, whole)
		for _, r := range s.Replicas {
			e.add(&server{ClusterServer: r, shard: s}, whole)
		}
	}
	return func() {
		for _, n := range slices.Concat(e.Nodes, e.Anonymous) {
			if n != nil {
				n.Close()
			}
		}
	}
}

// nowhere is a cluster whose servers are not known.
type nowhere struct {
	node.Node
	err error
}

func (n nowhere) Eval(context.Context, string, node.Call, ...string) node.Reply {
	return node.Reply{Err: n.err}
}

// add adds a server. whole is the URL of the cluster.
func (e *exam) add(s *server, whole string) {
	text := serverURL(whole, s.Addr)
	n, err := e.Open(text)
	if err != nil {
		e.find("answer", "", Bad, "the address "+s.Addr+" cannot be used: "+err.Error(), "see cluster-announce-ip of this server")
		return
	}
	guest, err := e.Guest(text)
	if err != nil {
		guest = nil
	}
	e.URLs, e.Nodes, e.Anonymous = append(e.URLs, text), append(e.Nodes, n), append(e.Anonymous, guest)
	e.servers[hostPort(n)] = s
}

// serverURL returns the URL of one server of a cluster, with the user and the certificates in the URL of the cluster.
func serverURL(cluster, addr string) string {
	scheme, rest, _ := strings.Cut(cluster, "://")
	authority, path := rest, ""
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	_, text, _ := strings.Cut(path, "?")
	query, _ := url.ParseQuery(strings.ReplaceAll(text, "+", "%2B")) // a + stands for itself: see rueidisnode
	for _, name := range []string{"wait", "wait-timeout", "replicated"} {
		query.Del(name)
	}
	if text = strings.ReplaceAll(query.Encode(), "+", "%20"); text != "" {
		text = "?" + text
	}
	return strings.TrimSuffix(scheme, "+cluster") + "://" + authority[:strings.LastIndexByte(authority, '@')+1] + addr + text
}

// scheme returns the scheme of the URL of all clients: plain, or the same for a cluster.
func (e *exam) scheme(plain string) string {
	if e.Cluster != nil {
		return plain + "+cluster"
	}
	return plain
}

// view reads what the server says about the cluster.
func (p *patient) view(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r := p.node.Eval(bounded, "return redis.call('CLUSTER', 'NODES')", node.Call{}); r.Err == nil {
		p.server.view = members(r.Value)
	}
	if p.server.master {
		p.coverage, _ = p.setting(ctx, "cluster-require-full-coverage")
		p.least, _ = p.setting(ctx, "min-replicas-to-write")
	}
}

// all returns the command line that redis-cli runs on all servers of the cluster of this server.
func (p *patient) all(command string) string {
	tls := ""
	if u, err := parseURL(p.url); err == nil && encrypts(u.Scheme) {
		tls = " --tls" // --cluster takes no URL
	}
	_, where, _ := strings.Cut(p.node.Addr(), "://")
	where = where[:strings.IndexAny(where+"/", ",/")] // the first server, if the others are not known
	return "redis-cli" + tls + p.credentials(command) + " --cluster " + strings.Replace(command, "HOST", shell(where), 1)
}

// roleInShard examines the role of a server of a cluster, and the replicas of a master.
func (p *patient) roleInShard() {
	s := p.server
	switch link := p.info["master_link_status"]; {
	case s.master && p.isReplica():
		p.find("role", Warn, "calls itself a replica, and most servers call it a master: a failover may be under way", "look again: holdfast doctor --only role")
	case s.master:
		p.find("role", OK, "master", "")
	case link != "up":
		p.find("role", Warn, "is a replica of "+s.shard.Master.Addr+" without a connection to it: if it is promoted, it lacks the last writes",
			"mend the network between them; if the master has a password, the replica needs it: "+p.set("masterauth PASSWORD"))
	default:
		p.find("role", OK, "replica", "")
	}
	if s.master {
		p.replicas()
	}
}

// replicas examines the replicas of a master.
func (p *patient) replicas() {
	s, n, declared := p.server, p.number("connected_slaves"), p.declared()
	least, _ := strconv.ParseInt(p.least, 10, 64)
	switch slots := printable.Count(s.shard.Slots, "hash slot"); {
	case n < int64(declared.Replicas):
		p.find("replication", Bad, fmt.Sprintf("%s, but a grant counts only if %d have it (wait=%[2]d): nobody gets a lock of its %s", printable.Count(n, "replica"), declared.Replicas, slots),
			"start the replicas, or lower wait in the URL of all clients")
	case n < least:
		p.find("replication", Bad, fmt.Sprintf("%s, and min-replicas-to-write is %d: it refuses all writes", printable.Count(n, "replica"), least),
			"start the replicas; or: "+p.set("min-replicas-to-write "+strconv.FormatInt(n, 10)))
	case n == 0:
		p.find("replication", Warn, "no replica: if it fails, nobody gets a lock of its "+slots, "add one: "+
			p.all("add-node NEW:PORT HOST --cluster-slave --cluster-master-id "+s.ID))
	default:
		p.find("replication", OK, printable.Count(n, "replica")+"; one that is promoted has a quarantine", "")
	}
}

// cluster examines what the servers of a cluster say about each other.
func (e *exam) cluster(alive []*patient) {
	switch {
	case e.Cluster == nil && len(alive) == 0:
		return // blanks says so
	case e.Cluster == nil:
		e.find("cluster", "", OK, "no Redis Cluster", "")
		e.find("moves", "", OK, "no Redis Cluster", "")
		return
	case e.topology == nil:
		e.find("cluster", "", Bad, e.lost.Error(), listFix(e.lost))
		return
	}
	var seen []*patient
	for _, p := range alive {
		if p.server.view != nil {
			seen = append(seen, p)
		}
	}
	if len(seen) == 0 {
		return // blanks says so
	}
	ill := e.states(seen)
	gone := e.covered(seen[0], ill)
	if len(ill) == 0 && !gone {
		e.find("cluster", "", OK, fmt.Sprintf("%s in %s, and each hash slot has a master", printable.Count(e.topology.Servers, "server"), printable.Count(len(e.topology.Shards), "shard")), "")
	}
	e.moves(seen)
}

// listFix returns the advice for a list of servers whose topology is not known.
func listFix(err error) string {
	switch {
	case errors.Is(err, node.ErrTwoClusters):
		return "list servers of one cluster only, in all clients"
	case errors.Is(err, node.ErrNoSlots):
		return "to distribute the hash slots among new servers: redis-cli --cluster create HOST:PORT …; to give them to the servers of an old cluster: redis-cli --cluster fix HOST:PORT"
	case errors.Is(err, node.ErrNoCluster):
		return "to use the server as a single node, list it as redis://…; to use it in the cluster, start it with cluster-enabled yes, and add it"
	case errors.Is(err, node.ErrAnnounced):
		return "on each such server: redis-cli -h HOST CONFIG SET cluster-announce-ip ADDRESS, an address that all clients and servers reach, and CONFIG REWRITE"
	}
	return "start the servers, or mend their addresses, password or network: a majority of all servers of the cluster must answer"
}

// states finds servers that others call failed. The result has the ids of failed masters.
func (e *exam) states(seen []*patient) map[string]bool {
	ill, told := map[string]bool{}, map[string]bool{}
	for _, p := range seen {
		for _, m := range p.server.view {
			if m.state == "" || told[m.id] {
				continue
			}
			told[m.id] = true
			votes, state := map[string]int{}, ""
			for _, q := range seen {
				for _, o := range q.server.view {
					if o.id == m.id {
						votes[o.state]++
					}
				}
			}
			for _, s := range []string{"fail?", "fail"} {
				if votes[s] > 0 {
					state = s
				}
			}
			severity := Warn
			if s := e.servers[m.addr]; s != nil && s.master && state == "fail" {
				severity, ill[m.id] = Bad, true
			}
			e.find("cluster", e.name(m.addr), severity, fmt.Sprintf("%d of %d servers call %s %s: it does not answer them", votes[state], len(seen), m.addr, state),
				"start it, or mend the network between the servers, with the port of the cluster bus; if it is gone for good and is no longer a master: "+p.all("call HOST CLUSTER FORGET "+m.id))
		}
	}
	return ill
}

// name returns the address of the node at host:port, "" if it is no node.
func (e *exam) name(addr string) string {
	for _, n := range e.Nodes {
		if hostPort(n) == addr {
			return n.Addr()
		}
	}
	return ""
}

// covered finds hash slots without a master that works, and returns true if there are any. ill has the masters that have
// failed.
func (e *exam) covered(p *patient, ill map[string]bool) bool {
	none, failed := 0, 0
	for _, i := range e.topology.Owner {
		switch {
		case i < 0:
			none++
		case ill[e.topology.Shards[i].Master.ID]:
			failed++
		}
	}
	full, which := e.fullCoverage()
	effect, more := "nobody gets a lock of their names", ""
	switch full {
	case "yes":
		effect = "cluster-require-full-coverage is yes, so the whole cluster stops"
		more = ". Meanwhile the other shards work after: " + p.all("call HOST CONFIG SET cluster-require-full-coverage no")
	case "":
		effect += "; if cluster-require-full-coverage is yes, the whole cluster stops"
	}
	if none > 0 {
		e.find("cluster", "", Bad, printable.Count(none, "hash slot")+" without a master that most servers name: "+effect,
			"if a master was removed, bring it back; if its data are lost: "+p.all("fix HOST")+more)
	}
	if failed > 0 {
		e.find("cluster", "", Bad, printable.Count(failed, "hash slot")+" with a master that has failed: "+effect,
			"start the master; or, on one of its replicas: redis-cli -h HOST CLUSTER FAILOVER TAKEOVER"+more)
	}
	if none+failed == 0 && full == "yes" {
		e.find("cluster", "", Note, "cluster-require-full-coverage is yes"+which+": if one shard fails, nobody gets any lock", "to let the other shards work: "+
			p.all("call HOST CONFIG SET cluster-require-full-coverage no"))
	}
	return none+failed > 0
}

// fullCoverage returns yes if a master has cluster-require-full-coverage yes, no if none has it, and "" if it is not known.
// If only some masters have yes, which names them.
func (e *exam) fullCoverage() (full, which string) {
	var yes []string
	others := false
	for _, p := range e.patients {
		switch p.coverage {
		case "yes":
			yes = append(yes, p.hostPort())
		case "no":
			full, others = "no", true
		}
	}
	if len(yes) == 0 {
		return full, ""
	}
	if others {
		which = " on " + strings.Join(yes, ", ")
	}
	return "yes", which
}

// shardHosts finds shards whose servers are all on one machine, by their addresses.
func (e *exam) shardHosts() {
	if e.topology == nil {
		return
	}
	shared := 0
	for _, s := range e.topology.Shards {
		host, _, _ := net.SplitHostPort(s.Master.Addr)
		if len(s.Replicas) == 0 || slices.ContainsFunc(s.Replicas, func(r node.ClusterServer) bool {
			other, _, _ := net.SplitHostPort(r.Addr)
			return other != host
		}) {
			continue
		}
		if shared++; near("redis://" + s.Master.Addr) {
			continue
		}
		e.find("hosts", e.name(s.Master.Addr), Warn, "the master and all replicas of this shard are on "+host+", and fail together", "move a replica to another machine")
	}
	switch {
	case shared == 0:
		e.find("hosts", "", OK, "no shard has its master and all replicas at one address", "")
	case shared == len(e.topology.Shards) && near("redis://"+e.topology.Shards[0].Master.Addr):
		e.find("hosts", "", Note, "all servers are on this machine, and fail together", "move them to machines that fail independently")
	}
}

// shardVotes examines whether the shards vote, and whether the cluster bears the loss of one.
func (e *exam) shardVotes(answers []verdict.Answer) {
	if e.topology == nil {
		e.find("votes", "", Bad, "the shards are not known, so nobody gets a lock", "see the check cluster")
		return
	}
	silent, unknown := 0, 0
	for _, n := range answers {
		if addr := e.name(n.Master); addr != "" {
			n.Node = addr
		}
		e.belongs(n)
		bar := BarOf(n)
		e.vote(n, bar, false)
		switch {
		case n.Votes():
		case bar == NoBar && !onItsWay(n):
			silent++
		default:
			unknown++
		}
	}
	switch {
	case silent > 0:
		e.find("votes", "", Bad, fmt.Sprintf("%d of %s without a vote: nobody gets a lock of the names in their hash slots", silent, printable.Count(len(answers), "shard")), "see the findings about these shards")
	case unknown > 0:
		e.find("votes", "", Note, fmt.Sprintf("for %d of %s it is not known whether clients get locks", unknown, printable.Count(len(answers), "shard")), "see the findings about these shards")
	}
	if n := len(e.topology.Shards); n < 3 {
		e.find("count", "", Warn, fmt.Sprintf("%s: if one master fails, no replica takes its place, because a majority of the masters must agree", printable.Count(n, "master")), "use at least three masters")
	} else {
		e.find("count", "", OK, fmt.Sprintf("%d shards; each locks the names of its hash slots alone", n), "")
	}
}
