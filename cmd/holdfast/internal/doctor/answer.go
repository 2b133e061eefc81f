package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file examines a server that gave no answer.

// unanswered says why the server did not answer, and how to mend that.
func (p *patient) unanswered(ctx context.Context, err error) {
	state, fix := "no answer: ", "start the server, or mend its address, password or network; then: "+p.redis("PING")
	unlisted := p.Cluster != nil && p.topology == nil // the address is that of the whole cluster
	switch code := node.Code(err); {
	case code == node.NoPerm && unlisted:
		user := p.user(ctx)
		state, fix = "refuses the user "+user+": ", "on every server, replicas included: "+p.all("call HOST "+p.grant(user))+
			"; then ACL SAVE (with an aclfile) or CONFIG REWRITE on each, or give them this user where you start them"
	case code == node.NoPerm:
		user := p.user(ctx)
		state, fix = "refuses the user "+user+": ", p.allow(ctx, p.grant(user))
	case (code == node.NoAuth || code == node.WrongPass) && p.server != nil:
		state, fix = "refuses this user: ", "most servers of the cluster accept it: make it on this server, too, with the same password and rule "+
			"(a cluster does not copy users; holdfast acl --redis-cluster prints the rule)"
	case code == node.NoAuth || code == node.WrongPass:
		scheme, _, _ := strings.Cut(p.url, "://")
		state, fix = "refuses this user: ", fmt.Sprintf("put the user and the password into the URL of the node: %s://USER:PASSWORD@… (without a user: %[1]s://:PASSWORD@…)", scheme)
	case unlisted:
		p.find("answer", Bad, "the servers of the cluster are not known", "see the check cluster")
		return
	case code == "":
		n := verdict.Answer{Node: p.node.Addr()}
		answers.Fail(&n, err)
		if hint := verdict.Hint([]verdict.Answer{n}); hint != "" {
			fix = hint + "; then: " + p.redis("PING")
		}
		if n.Reason == verdict.ReasonTimedOut && p.accepts(ctx) {
			state = "accepts connections, but does not answer: "
			fix = "on its machine, look whether its process is stopped (state T in ps), swaps, or runs a long command, and continue or restart it; then: " + p.redis("PING")
		}
	}
	severity := Bad
	if p.server != nil && p.server.shard != nil && !p.server.master {
		severity = Warn // a replica; the check replication knows whether the shard has another one
	}
	p.find("answer", severity, state+node.Reason(err), fix)
}

// accepts reports whether the machine of the server accepts a connection. It does so for a process that is stopped, too.
func (p *patient) accepts(ctx context.Context) bool {
	u, err := parseURL(p.url)
	if err != nil || u.Hostname() == "" || behindSentinel(u.Scheme) || p.Cluster != nil && p.topology == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379")))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
