package doctor

import (
	"context"
	"net"
	"net/url"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/node"
)

// user returns the name of the user, or "default" if it is unknown.
func (p *patient) user(ctx context.Context) string {
	if r := p.do(ctx, "ACL", "WHOAMI"); r.Err == nil && r.Value != "" {
		return r.Value
	}
	if u, err := parseURL(p.url); err == nil && u.User != nil && u.User.Username() != "" {
		return u.User.Username()
	}
	return "default"
}

// roles returns the roles whose rights the user needs.
func (p *patient) roles() rights.Role {
	if p.Role != 0 {
		return p.Role
	}
	return rights.Locker
}

// probes returns the commands that the user needs.
func (p *patient) probes() []rights.Probe {
	return rights.User{Roles: p.roles(), Durable: p.Durable, Confirmed: p.declared().Replicas > 0}.Probes()
}

// grant returns the command that gives a user the rights to all commands, keys and channels that it needs. It takes no
// right away.
func (p *patient) grant(user string) string {
	add := []string{"~*", "&" + nodescript.Inbox("*")}
	for _, probe := range p.probes() {
		add = append(add, probe.Right)
	}
	return "ACL SETUSER " + shell(user) + " '" + strings.Join(unique(add), "' '") + "'"
}

// allow returns the command lines that change a user of this server for good.
func (p *patient) allow(ctx context.Context, command string) string {
	if _, known := p.setting(ctx, "aclfile"); known {
		return p.redis(command) + " && " + p.redis("ACL SAVE")
	}
	return p.lasting("also give it this user where you start it", command)
}

// rights finds commands, keys and channels that the user may not use but needs.
func (p *patient) rights(ctx context.Context) {
	if !p.wants("acl") && !p.wants("default-user") {
		return
	}
	user, of := p.user(ctx), ""
	if p.Role != 0 {
		of = " of the role " + p.Role.String()
	}
	var missing, add []string
	for _, probe := range p.probes() {
		r := p.do(ctx, append([]string{"ACL", "DRYRUN", user}, probe.Command...)...)
		if r.Err != nil {
			missing = nil
			p.find("acl", Note, "not known: "+node.Reason(r.Err)+" for ACL DRYRUN as "+user,
				p.allow(ctx, "ACL SETUSER "+shell(user)+" '+acl|whoami' '+acl|dryrun'"))
			add = []string{""}
			break
		}
		if r.Value == "OK" {
			continue
		}
		missing = append(missing, strings.Join(probe.Command[:min(2, len(probe.Command))], " "))
		switch said := strings.ToLower(r.Value); {
		case strings.Contains(said, "channel"):
			add = append(add, "&"+nodescript.Inbox("*"))
		case strings.Contains(said, "key"):
			add = append(add, "~*")
		default:
			add = append(add, probe.Right)
		}
	}
	switch {
	case len(missing) > 0:
		p.find("acl", Bad, "the user "+user+" lacks rights"+of+": "+strings.Join(missing, ", "), p.allow(ctx, "ACL SETUSER "+shell(user)+" '"+strings.Join(unique(add), "' '")+"'"))
	case len(add) == 0:
		p.find("acl", OK, "the user "+user+" has all rights"+of, "")
	}
	p.anonymous(ctx)
}

func unique(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// anonymous finds out whether the server answers without user and password.
func (p *patient) anonymous(ctx context.Context) {
	var n node.Node
	for i := range p.Nodes {
		if p.Nodes[i] == p.node && i < len(p.Anonymous) {
			n = p.Anonymous[i]
		}
	}
	if n == nil {
		p.find("default-user", OK, "not asked", "")
		return
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := n.Eval(bounded, "return 'let in'", node.Call{})
	severity := Bad
	if near(p.url) {
		severity = Note // only users of this machine can reach the server
	}
	if r.Err == nil {
		p.find("default-user", severity, "lets anybody in without a password", p.allow(ctx, "ACL SETUSER default '>PASSWORD'")+
			"; then put the password into HOLDFAST_NODES")
		return
	}
	p.find("default-user", OK, "needs a password", "")
}

// behindSentinel reports whether the Sentinels of a URL name the server.
func behindSentinel(scheme string) bool { return strings.HasSuffix(scheme, "+sentinel") }

// parseURL reads a URL. Of the Sentinels in a URL it keeps no address, because package url cannot read a list.
func parseURL(address string) (*url.URL, error) {
	if scheme, rest, ok := strings.Cut(address, "://"); ok && behindSentinel(scheme) {
		list, _, _ := strings.Cut(rest, "/")
		return url.Parse(scheme + "://" + list[:strings.LastIndex(list, "@")+1])
	}
	return url.Parse(address)
}

// near reports whether a URL leads to this machine, through a socket or a loopback address. The place of Sentinels does
// not show the place of the master that they name, so near is false for them.
func near(address string) bool {
	u, err := parseURL(address)
	if err != nil || behindSentinel(u.Scheme) {
		return false
	}
	if u.Scheme == "unix" {
		return true
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// encrypted finds out whether passwords and locks travel over a network as plain text.
func (p *patient) encrypted() {
	s, state, fix := secure(p.url)
	p.find("tls", s, state, fix)
}

func secure(address string) (s Severity, state, fix string) {
	u, err := parseURL(address)
	switch {
	case err != nil:
		return Note, "not known", "mend the URL"
	case strings.HasPrefix(u.Scheme, "rediss") || strings.HasPrefix(u.Scheme, "valkeys"):
		return OK, "TLS", ""
	case near(address):
		return OK, "no TLS, on this machine", ""
	}
	scheme := "rediss://"
	if behindSentinel(u.Scheme) {
		scheme = "rediss+sentinel://"
	}
	return Warn, "no TLS: others on the network can read the password and write locks", "give the server a certificate (tls-port), and write " + scheme + " in the URL"
}
