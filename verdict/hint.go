package verdict

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
)

// docs is the address of the documents for users. Hints need the full address, because most users have no copy of the
// documents.
const docs = "https://github.com/holdfast-go/holdfast/blob/main/docs/guide/"

// Hint returns advice for a person that the texts of the answers do not give: how long to wait for the end of a
// quarantine, which settings all clients must share, or what may be wrong with an address. It returns "" if there is no
// such advice.
func Hint(nodes []Answer) string {
	for _, hint := range []func(answers) string{
		answers.twice, answers.settings, answers.cluster, answers.unwritable, answers.free, answers.quarantine, answers.slots,
		answers.rights, answers.address,
	} {
		if h := hint(behind(nodes)); h != "" {
			return h
		}
	}
	return ""
}

type answers []Answer

// behind puts the error of one server in the place of an answer that no topology is known.
func behind(nodes []Answer) answers {
	all := slices.Clone(nodes)
	for i, n := range all {
		if n.Cause != CauseTopology {
			continue
		}
		switch code := node.Code(n.Err); {
		case code != "":
			all[i].Reason, all[i].Cause = ReasonServerError, Cause(code)
		case node.Refused(n.Err):
			all[i].Reason = ReasonRefused
		case node.Timeout(n.Err):
			all[i].Reason = ReasonTimedOut
		case node.Disconnected(n.Err):
			all[i].Reason = ReasonDisconnected
		}
	}
	return all
}

// any returns the first answer for which the function is returns true.
func (all answers) any(is func(Answer) bool) (n Answer, ok bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return n, false
	}
	return all[i], true
}

func (all answers) settings() string {
	n, differs := all.any(func(n Answer) bool { return n.Reason == ReasonMisconfigured })
	if !differs {
		return ""
	}
	hint := ""
	if same := n.same(); same != "" {
		hint = same + ". "
	}
	hint += "The number of nodes, MaxTTL, Window, Durable and Cluster must be the same for all clients of these nodes; " +
		"another database of the same servers is another node set; " + docs + "operating.md says how to change them"
	return hint
}

// redisCluster is the name of a Redis Cluster whose clients give none.
const redisCluster = "redis-cluster"

// same says what this client must change so that it has the settings of the node. It returns "" if that is unknown.
func (n Answer) same() string {
	const list = "give this client the same list of nodes as the others"
	if n.Cause == CauseStranger {
		return list
	}
	var changes []string
	for _, d := range n.Settings {
		switch d.Setting {
		case "nodes":
			return list
		case "cluster":
			switch {
			case n.Master != "" && d.Node == redisCluster:
				changes = append(changes, "leave Cluster out as the others do (command: no --cluster)")
				continue
			case n.Master != "" && d.Node != "":
				changes = append(changes, "set Cluster to "+d.Node+" as the others do (command: --cluster "+d.Node+")")
				continue
			}
			changes = append(changes, list+", spelt in the same way (127.0.0.1 and localhost differ), or the same Cluster")
		case "durable":
			if d.Node == "yes" {
				changes = append(changes, "set Durable as the others do (command: add --durable)")
			} else {
				changes = append(changes, "leave Durable out as the others do (command: no --durable)")
			}
		case "max-ttl":
			changes = append(changes, "set MaxTTL to "+d.Node+" as the others do")
		case "window":
			changes = append(changes, "set Window to "+d.Node+" as the others do")
		}
	}
	return strings.Join(changes, "; ")
}

func (all answers) twice() string {
	if n, ok := all.any(func(n Answer) bool { return n.Reason == ReasonDuplicate }); ok {
		return fmt.Sprintf("take %s out of the list of nodes, or give it a server of its own: a server counts once", n.Node)
	}
	return ""
}

// sharded reports whether the nodes are shards of a Redis Cluster.
func (all answers) sharded() bool {
	_, is := all.any(func(n Answer) bool { return n.Master != "" })
	return is
}

func (all answers) cluster() string {
	if _, is := all.any(func(n Answer) bool { return n.Reason == ReasonUnfit && n.Cause == CauseCluster }); !is {
		return ""
	}
	return "a Redis Cluster is one node with one URL, such as redis+cluster://10.0.0.1,10.0.0.2,10.0.0.3: " + docs + "cluster.md"
}

func (all answers) slots() string {
	code := func(codes ...Cause) bool {
		_, is := all.any(func(n Answer) bool { return n.Reason == ReasonServerError && slices.Contains(codes, n.Cause) })
		return is
	}
	switch {
	case code(node.ClusterDown):
		return "holdfast doctor names the shards that have failed, and the hash slots that no shard has"
	case code(node.Ask, node.TryAgain):
		return "ask again when the hash slot has moved; if its move has stopped halfway, holdfast doctor names the command that ends it"
	}
	return ""
}

func (all answers) unwritable() string {
	n, refuses := all.any(func(n Answer) bool { return n.Reason == ReasonUnwritable })
	if !refuses {
		return ""
	}
	const doctor = "; holdfast doctor prints the command"
	switch n.Cause {
	case CauseMemory:
		return "make room: delete other data on the full servers, or raise their maxmemory well above what is used" + doctor
	case CauseMinReplicas:
		return "start the replicas of this server, or lower its min-replicas-to-write"
	case CauseAOF:
		return "make room on the disk of the server, whose log names the error"
	}
	return "make the dir of the server writable, and room on its disk; or switch snapshots off, because Holdfast needs none" + doctor
}

func (all answers) free() string {
	var longest time.Duration
	unsure := false
	for _, n := range all {
		if n.Reason == ReasonFreeNoVote {
			unsure, longest = true, max(longest, n.VotesIn)
		}
	}
	switch {
	case !unsure:
		return ""
	case longest == 0:
		return "a node that may have forgotten a lock cannot say that it is free: holdfast nodes says why it does not vote"
	}
	return "a node that may have forgotten a lock cannot say that it is free: ask again in " + printable.AtLeast(longest)
}

// quarantine suggests a voucher (holdfast nodes trust) only if all nodes that answered are new. If some nodes
// kept their data, a client may hold a lock on them. A voucher for the other nodes would let a second client get this
// lock.
func (all answers) quarantine() string {
	var longest time.Duration
	causes, fresh := map[Cause]bool{}, false
	others := false // some nodes kept their data, or their state is not known
	for _, n := range all {
		if n.VotesIn > 0 {
			causes[n.Cause] = true
			fresh = fresh || n.Cause.IsNew()
			longest = max(longest, n.VotesIn)
		}
		others = others || !n.Cause.IsNew() && n.Reason != ReasonUnanswered
	}
	wait := "wait " + printable.AtLeast(longest)
	switch {
	case longest == 0:
		return ""
	case all.sharded() && all.slots()+all.rights()+all.address() != "":
		return "" // waiting does not mend the other shards
	case all.sharded() && fresh:
		return wait + ", once for the whole cluster: the quarantines of all hash slots run at the same time. " +
			"If its servers lost their data, a lock may be alive until then"
	case all.sharded() && !slices.ContainsFunc(all, Answer.Votes) && len(all) > 1:
		return wait + ": a lock may be alive until then, although these shards may have forgotten it"
	case all.sharded() && len(all) > 1:
		return wait + ": a lock may be alive until then, although a shard in quarantine may have forgotten it; the other shards go on"
	case all.sharded():
		return wait + ": a lock may be alive until then, although this shard may have forgotten it; the other shards go on"
	case len(causes) == 1 && causes[CausePlace]:
		return wait + "; nothing shortens this"
	case len(causes) == 1 && (causes[CauseVouched] || causes[CauseConfiguration]):
		return wait
	case len(causes) == 1 && causes[CauseUnused] && !others:
		return wait + ", once, unless the first lock comes from the machine of these nodes: another server may have been at their addresses. " +
			"Only if nobody has a lock: holdfast nodes trust (admin.Trust in Go) shortens this"
	case fresh && !others:
		return wait + ". If these nodes lost their data, a lock may be alive until then. " +
			"Only if they were never used: holdfast nodes trust (admin.Trust in Go) shortens this"
	case fresh:
		return wait + ", and some seconds more for a place among the nodes that kept their data: a lock may be alive until then"
	}
	return wait + ": a lock may be alive until then, although these nodes may have forgotten it"
}

func (all answers) rights() string {
	code := func(what Cause) bool {
		_, ok := all.any(func(n Answer) bool { return n.Reason == ReasonServerError && n.Cause == what })
		return ok
	}
	refused := func(n Answer) bool {
		var u *node.Unconfirmed
		return n.Cause == CauseUnreplicated && errors.As(n.Err, &u) && node.Code(u.Err) == node.NoPerm
	}
	if _, is := all.any(refused); is {
		return "wait in the URL needs a right that its user lacks: holdfast acl --wait prints the rule with it"
	}
	switch {
	case code(node.WrongPass):
		return "the user or the password in the URL is wrong, or not known to this server"
	case code(node.NoPerm):
		return "the user of the URL lacks a right, to a command, to the keys of this name or to holdfast:node*: " +
			"holdfast acl prints the rule for each role, and " + docs + "rights.md explains it"
	}
	return ""
}

// ownCertificate says how a client gets a certificate of its own.
const ownCertificate = "--cert /path/cert.pem --key /path/key.pem for the command, ?cert=/path/cert.pem&key=/path/key.pem in the URL"

func (all answers) address() string {
	said := func(reasons ...Reason) bool {
		_, ok := all.any(func(n Answer) bool { return slices.Contains(reasons, n.Reason) })
		return ok
	}
	var unknown *net.DNSError
	if n, ok := all.any(func(n Answer) bool { return errors.As(n.Err, &unknown) && unknown.IsNotFound }); ok {
		return fmt.Sprintf("no such host: correct the host name in the URL %s, or add it to the DNS", n.Node)
	}
	if n, ok := all.any(func(n Answer) bool { return n.Reason == ReasonFailed && errors.Is(n.Err, fs.ErrNotExist) }); ok {
		return fmt.Sprintf("there is no socket at %s: start the server, and compare the path with its setting unixsocket", n.Node)
	}
	if n, ok := all.any(func(n Answer) bool {
		return n.Reason == ReasonServerError && strings.Contains(n.Said(), "DB index is out of range")
	}); ok {
		return fmt.Sprintf("the server has fewer databases than the number at the end of %s: use 0 to 15, or raise its setting databases", n.Node)
	}
	var authority x509.UnknownAuthorityError
	if _, ok := all.any(func(n Answer) bool { return errors.As(n.Err, &authority) }); ok {
		return "the certificate of the server is not from a known authority: " +
			"for one of your own, --cacert /path/ca.pem for the command, ?cacert=/path/ca.pem in the URL"
	}
	if _, ok := all.any(func(n Answer) bool { return strings.Contains(n.Said(), "remote error: tls: ") }); ok {
		return "the server accepts only clients with a certificate that it knows: " + ownCertificate
	}
	if _, several := all.any(func(n Answer) bool { return n.Cause == CauseSeveral }); several {
		return "give the address of one server, not of a load balancer or of a name with several servers; " +
			"holdfast doctor --only address looks again"
	}
	if _, moved := all.any(func(n Answer) bool { return n.Reason == ReasonFailed && n.Cause == CauseElsewhere }); moved {
		return "the address has moved from one server to another: look again, with holdfast doctor --only address"
	}
	if n, replica := all.any(func(n Answer) bool {
		return n.Reason == ReasonUnfit && n.Cause == CauseRole && !strings.Contains(n.Node, "+sentinel:")
	}); replica {
		return "list the master in place of " + n.Node + ", unless this address leads to the master again soon: holdfast doctor names the master"
	}
	switch {
	case said(ReasonRefused):
		return "nothing listens at an address that answers \"connection refused\": start the server, or correct the URL"
	case said(ReasonNoScripts, ReasonCorrupt): // their texts say what to do
		return ""
	}
	over, tls := all.any(func(n Answer) bool { // a connection that worked had the right scheme
		return !n.Met && (n.Reason == ReasonDisconnected || n.Reason == ReasonTimedOut && strings.HasPrefix(n.Node, "rediss:"))
	})
	if tls {
		hint := "is this Redis or Valkey? does TLS match? redis:// is without TLS, rediss:// with it"
		if over.Reason == ReasonDisconnected && strings.HasPrefix(over.Node, "rediss") {
			hint += ". A server with tls-auth-clients yes accepts only clients with a certificate: " + ownCertificate
		}
		return hint
	}
	return ""
}
