package rueidisnode

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// target is the content of a URL. It contains a password, so never print it.
type target struct {
	network, addr  string // arguments for net.Dial
	tls            bool
	user, password string
	db             int

	cluster          string // host:port of servers of a cluster, sorted, separated by commas; "" without cluster
	sentinels        string // host:port of each Sentinel, sorted, separated by commas; "" without Sentinel
	master           string // the name that Sentinel has for the master
	sentinelUser     string
	sentinelPassword string
	replication      node.Replication
	files            certificates
}

// errAmbiguous is the error of a text in which a piece of a password may be at the wrong place. Its text is fixed, so
// that it cannot show this piece.
var errAmbiguous = errors.New("not a URL; the port must be a number, and in a user or password each of , / ? # @ : % and spaces must be percent-encoded")

// errNoScheme is the error of a text without a scheme. In a list of URLs see errCut.
var errNoScheme = errors.New("no scheme; want redis://, rediss:// (over TLS) or unix://")

// errScheme is the error of a URL with an unknown scheme.
var errScheme = errors.New("unknown scheme; want redis://, rediss:// (over TLS) or unix://, or redis+sentinel:// or rediss+sentinel:// for a master that Sentinels name, or redis+cluster:// or rediss+cluster:// for a Redis Cluster")

// severalURLs matches a list of URLs, as HOLDFAST_NODES has it.
var severalURLs = regexp.MustCompile(`[,;\s]\s*(redis|rediss|valkey|valkeys|unix)(\+sentinel|\+cluster)?://`)

// errCut is the error of a text without a scheme in a list of URLs. The reason may be a comma or a space in a password,
// at which somebody split the list.
var errCut = errors.New(errNoScheme.Error() + "; a comma or space in a user or password must be written %2C or %20")

// schemes lists the schemes of a node's URL.
var schemes = []string{
	"redis", "rediss", "valkey", "valkeys", "unix",
	"redis+sentinel", "rediss+sentinel", "valkey+sentinel", "valkeys+sentinel",
	"redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster",
}

// parse reads a URL. Its errors never contain a part of the text. Somebody may have split a list of URLs at a comma
// in a password. A piece of the password can then be anywhere in a text that looks like a URL.
func parse(text string) (target, error) {
	switch {
	case text == "":
		return target{}, errors.New("the URL is empty; is a variable unset?")
	case !strings.Contains(text, "://"):
		return target{}, errNoScheme
	case severalURLs.MatchString(text):
		return target{}, errors.New("there are several URLs in one text; give each as an argument of its own: strings.Split(text, \",\")")
	}
	ats := strings.Count(text, "@")
	text, hosts, err := cutHosts(text)
	if err != nil {
		return target{}, err
	}
	u, err := url.Parse(text)
	// The error of url.Parse is not used, because it quotes the text. An @ that does not end the user part may belong
	// to a password that spilled into the host, path or query.
	if err != nil || u.Opaque != "" || ats > 1 || (ats == 1 && u.User == nil) {
		return target{}, errAmbiguous
	}
	if u.Fragment != "" {
		return target{}, errors.New("a #fragment has no meaning here")
	}
	query, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B")) // a + in a password is no space
	if err != nil {
		return target{}, errAmbiguous
	}
	t := target{user: u.User.Username()}
	t.password, _ = u.User.Password()
	t.tls = strings.HasPrefix(u.Scheme, "rediss") || strings.HasPrefix(u.Scheme, "valkeys")
	if err := t.readCertificates(query); err != nil && slices.Contains(schemes, u.Scheme) {
		return target{}, err
	}
	switch u.Scheme {
	case "redis", "rediss", "valkey", "valkeys":
		err = t.readTCP(u, query)
	case "redis+sentinel", "rediss+sentinel", "valkey+sentinel", "valkeys+sentinel":
		err = t.readSentinel(u, query, hosts)
	case "redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster":
		err = t.readCluster(u, query, hosts)
	case "unix":
		err = t.readUnix(u, query)
	default:
		err = errScheme
	}
	return t, err
}

func (t *target) readTCP(u *url.URL, query url.Values) error {
	if err := t.readReplication(query, nil); err != nil {
		return err
	}
	addr, err := hostPort(u, driver.DefaultPort)
	if err != nil {
		return err
	}
	t.network, t.addr = "tcp", addr
	return t.readDB(strings.Trim(u.Path, "/"))
}

// hostPort returns the host and the port of u.
func hostPort(u *url.URL, defaultPort string) (string, error) {
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return "", errors.New("no host")
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsFunc(host, notInName) {
		return "", errors.New("the host is neither a name nor an address; write an IPv6 address in [brackets]")
	}
	if port == "" {
		port = defaultPort
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New("the port is not a number from 1 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

// notInName reports whether r cannot be a part of a host name. It accepts all characters that are not ASCII; the
// resolver checks those.
func notInName(r rune) bool {
	return r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._", r))
}

func (t *target) readUnix(u *url.URL, query url.Values) error {
	if u.Host != "" || u.Path == "" {
		return errors.New("a socket is unix:// and an absolute path, such as unix:///run/redis.sock")
	}
	t.network, t.addr = "unix", u.Path
	for name, values := range query {
		if len(values) > 1 {
			return errors.New("a parameter is given twice")
		}
		switch name {
		case "db":
			if err := t.readDB(values[0]); err != nil {
				return err
			}
		case "user":
			t.user = values[0]
		case "password":
			t.password = values[0]
		default:
			return errors.New("unknown parameter behind the ?; unix:// takes db, user and password")
		}
	}
	return nil
}

func (t *target) readDB(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errors.New("the database is not a number from 0 up")
	}
	t.db = int(n)
	return nil
}

// label returns the part of a URL that helps a person to find the URL: the scheme, if it is known, and the host. It
// contains the host only if a user part comes before it. Otherwise the host could be a piece of a password.
func label(text string) string {
	scheme, _, _ := strings.Cut(text, "://")
	if !slices.Contains(schemes, scheme) {
		return "URL"
	}
	if u, err := url.Parse(text); err == nil && u.User != nil && strings.Count(text, "@") == 1 {
		return scheme + "://…@" + u.Host
	}
	return scheme + "://…"
}
