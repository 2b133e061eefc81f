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

// probes returns the commands that a user with these roles needs.
func (p *patient) probes(roles rights.Role) []rights.Probe {
	return rights.User{Roles: roles, Durable: p.Durable, Confirmed: p.declared().Replicas > 0, Sharded: p.Cluster != nil}.Probes()
}

// grant returns the command that gives a user the rights to all commands, keys and channels that it needs. It takes no
// right away.
func (p *patient) grant(user string) string {
	add := []string{"~*", "&" + nodescript.Inbox("*")}
	for _, probe := range p.probes(p.roles()) {
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
	missing, add, err := p.lacks(ctx, user, p.roles())
	switch {
	case noACL(err):
		p.find("acl", Note, "not known: this server has no ACL", "")
	case err != nil:
		p.find("acl", Note, "not known: "+node.Reason(err)+" for ACL DRYRUN as "+user,
			p.allow(ctx, "ACL SETUSER "+shell(user)+" '+acl|whoami' '+acl|dryrun'"))
	case len(missing) == 0:
		p.find("acl", OK, "the user "+user+" has all rights"+of, "")
	case p.Role == 0 && p.operates(ctx, user, missing):
		p.find("acl", Note, "the user "+user+" has all rights of the role operator, and cannot take locks",
			"to check a client, use its user: holdfast doctor --only acl --role locker")
	default:
		p.find("acl", Bad, "the user "+user+" lacks rights"+of+": "+strings.Join(missing, ", "), p.allow(ctx, "ACL SETUSER "+shell(user)+" '"+strings.Join(unique(add), "' '")+"'"))
	}
	p.anonymous(ctx, noACL(err))
}

// lacks returns the commands that the user may not use but needs for its roles, and the rules that allow them.
func (p *patient) lacks(ctx context.Context, user string, roles rights.Role) (missing, add []string, err error) {
	for _, probe := range p.probes(roles) {
		r := p.do(ctx, append([]string{"ACL", "DRYRUN", user}, probe.Command...)...)
		if r.Err != nil {
			return nil, nil, r.Err
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
	return missing, add, nil
}

// operates reports whether a user is an operator and no locker: it has all rights of an operator, and lacks each right
// that only a locker needs. A user that lacks only some of these rights is probably a locker whose rule has a mistake.
func (p *patient) operates(ctx context.Context, user string, missing []string) bool {
	if lacks, _, err := p.lacks(ctx, user, rights.Operator); err != nil || len(lacks) > 0 {
		return false
	}
	of, more := map[string]bool{}, 0
	for _, probe := range p.probes(rights.Operator) {
		of[probe.Right] = true
	}
	for _, probe := range p.probes(rights.Locker) {
		if !of[probe.Right] {
			more++
		}
	}
	return len(missing) == more
}

// noACL reports whether a server refused ACL because it does not know this command.
func noACL(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "unknown command")
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

// anonymous finds out whether the server answers without user and password. plain says that the server has no ACL.
func (p *patient) anonymous(ctx context.Context, plain bool) {
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
	switch {
	case r.Err == nil && plain && severity == Note:
		p.find("default-user", Note, "lets anybody in without a password: this server has no ACL", "")
		return
	case r.Err == nil && plain:
		p.find("default-user", Bad, "lets anybody in without a password: this server has no ACL", "let only your clients reach its port")
		return
	case r.Err == nil:
		// In this order no client is locked out: until the server has a password, it accepts any.
		p.find("default-user", severity, "lets anybody in without a password", "put a password into the URLs of all clients ("+p.scheme("redis")+"://:PASSWORD@…); then: "+
			p.allow(ctx, "ACL SETUSER default '>PASSWORD'"))
		return
	}
	p.find("default-user", OK, "needs a password", "")
}

// behindSentinel reports whether the Sentinels of a URL name the server.
func behindSentinel(scheme string) bool { return strings.HasSuffix(scheme, "+sentinel") }

// parseURL reads a URL. Of the Sentinels in a URL, or the servers of a Redis Cluster, it keeps no address, because package
// url cannot read a list.
func parseURL(address string) (*url.URL, error) {
	if scheme, rest, ok := strings.Cut(address, "://"); ok && (behindSentinel(scheme) || strings.HasSuffix(scheme, "+cluster")) {
		list, query := rest, ""
		if end := strings.IndexAny(rest, "/?"); end >= 0 {
			list = rest[:end]
		}
		if at := strings.IndexByte(rest, '?'); at >= 0 {
			query = rest[at:]
		}
		return url.Parse(scheme + "://" + list[:strings.LastIndex(list, "@")+1] + query)
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
	if p.Cluster != nil {
		fix = strings.Replace(fix, "rediss://", p.scheme("rediss")+"://", 1)
	}
	p.find("tls", s, state, fix)
}

// encrypts reports whether a URL with this scheme is one over TLS.
func encrypts(scheme string) bool {
	return strings.HasPrefix(scheme, "rediss") || strings.HasPrefix(scheme, "valkeys")
}

func secure(address string) (s Severity, state, fix string) {
	u, err := parseURL(address)
	switch {
	case err != nil:
		return Note, "not known", "mend the URL"
	case encrypts(u.Scheme):
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
