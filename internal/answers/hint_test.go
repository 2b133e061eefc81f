package answers_test

import (
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// An error about a node's address has a hint that says what may be wrong.
func TestAWrongAddressHasAHint(t *testing.T) {
	for want, err := range map[string]error{
		"no such host":                   fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}}),
		"there is no socket":             &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)},
		"the server has fewer databases": node.ServerError("ERR DB index is out of range"),
		"nothing listens":                os.NewSyscallError("connect", syscall.ECONNREFUSED),
		"lacks a right":                  node.ServerError("NOPERM no"),
		"--cacert /path/ca.pem":          fmt.Errorf("connect: %w", x509.UnknownAuthorityError{}),
		"the address has moved":          fmt.Errorf("connect: %w", node.ErrElsewhere),
	} {
		n := verdict.Answer{Node: "redis://h:6379/99"}
		answers.Fail(&n, err)
		un := &holdfast.UnavailableError{Name: "x", Nodes: []verdict.Answer{n}}
		if hint := un.Hint(); !strings.Contains(hint, want) || !strings.Contains(un.Error(), "(hint: "+hint+")") {
			t.Errorf("%v: the hint is %q, want %q", err, hint, want)
		}
	}
}

// The node of an address that leads to several servers can be reached, and the hint says what to do.
func TestAnAddressOfSeveralServersHasAHint(t *testing.T) {
	un := &holdfast.UnavailableError{Nodes: []verdict.Answer{{Node: "redis://h:6379/0", Reason: verdict.ReasonUnfit, Cause: verdict.CauseSeveral}}}
	if hint := un.Hint(); !strings.HasPrefix(hint, "give the address of one server, not of a load balancer") {
		t.Errorf("the hint is %q", hint)
	}
	n := verdict.Answer{Node: "redis://h:6379/0"}
	answers.Fail(&n, fmt.Errorf("connect: %w", node.ErrElsewhere))
	if said := n.Said(); !n.Reachable() || said != "its address leads to another server now" {
		t.Errorf("%q, reachable: %t", said, n.Reachable())
	}
}

// The hint for shards of a Redis Cluster names the fault that waiting does not mend first.
func TestTheHintsForShards(t *testing.T) {
	shard := func(n verdict.Answer) verdict.Answer {
		n.Node, n.Master = "redis+cluster://h:1/0123abcd", "h:1"
		return n
	}
	quarantined := shard(verdict.Answer{Reason: verdict.ReasonQuarantined, Cause: verdict.CauseSlots, VotesIn: 4 * time.Second})
	votes, down := shard(verdict.Answer{Reason: verdict.ReasonVotes}), shard(verdict.Answer{Reason: verdict.ReasonRefused})
	named := func(theirs, ours string) verdict.Answer {
		return shard(verdict.Answer{Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings,
			Settings: []verdict.Difference{{Setting: "cluster", Node: theirs, Client: ours}}})
	}
	refused := shard(verdict.Answer{Reason: verdict.ReasonFailed, Cause: verdict.CauseUnreplicated,
		Err: &node.Unconfirmed{Want: 1, Err: node.ServerError("NOPERM no WAIT")}})
	for want, nodes := range map[string][]verdict.Answer{
		"although this shard may have forgotten it; the other shards go on":            {quarantined},
		"although a shard in quarantine may have forgotten it; the other shards go on": {votes, quarantined, quarantined},
		"wait 4s: a lock may be alive until then, although these shards may have":      {quarantined, quarantined, quarantined},
		"nothing listens at an address":                                                {down, quarantined, down},
		"leave Cluster out as the others do (command: no --cluster)":                   {named("redis-cluster", "other")},
		"set Cluster to other as the others do (command: --cluster other)":             {named("other", "redis-cluster")},
		"holdfast acl --wait prints":                                                   {refused},
	} {
		if hint := verdict.Hint(nodes); !strings.Contains(hint, want) || len(nodes) > 2 && !nodes[0].Votes() && strings.Contains(hint, "go on") {
			t.Errorf("%v: the hint is %q, want %q", nodes, hint, want)
		}
	}
	if said := named("redis-cluster", "other").Said(); !strings.HasSuffix(said, "(without a name, it is redis-cluster)") {
		t.Error(said)
	}
}

// A Redis Cluster without a majority says how many servers answer, and not only why one of them does not.
func TestAClusterWithoutAMajoritySaysSo(t *testing.T) {
	const text = "no majority of the cluster answers: 1 of 3 servers, and 2 are needed: the server h:2: connection refused"
	n := verdict.Answer{Node: "redis+cluster://h:1,h:2"}
	answers.Fail(&n, fmt.Errorf("%s%w", strings.TrimSuffix(text, "connection refused"), syscall.ECONNREFUSED))
	if said := n.Said(); said != text {
		t.Error(said)
	}
	n.Node, n.Master = "redis+cluster://h:1/0123abcd", "h:1"
	if said := n.Said(); said != "connection refused" {
		t.Errorf("a shard says %q", said)
	}
}
