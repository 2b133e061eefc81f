package rueidisnode

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// target is what a URL says. It must not be printed: it holds a password.
type target struct {
	network, addr  string // as for net.Dial
	tls            bool
	user, password string
	db             int
}

// errAmbiguous stands for everything that may have a piece of a password in the
// wrong place, so that no error text shows it.
var errAmbiguous = errors.New("not a URL; a user or password with one of , / ? # @ : % or a space must be percent-encoded")

// parse reads a URL. Its errors quote only parts that cannot belong to a password.
func parse(text string) (target, error) {
	if !strings.Contains(text, "://") {
		return target{}, errors.New("no scheme; want redis://, rediss:// (over TLS) or unix://")
	}
	u, err := url.Parse(text)
	ats := strings.Count(text, "@")
	// Not the error of url.Parse: it quotes the text. An @ that does not end the
	// user's part may be part of a password that spilled into host, path or query.
	if err != nil || u.Opaque != "" || ats > 1 || (ats == 1 && u.User == nil) {
		return target{}, errAmbiguous
	}
	if u.Fragment != "" {
		return target{}, errors.New("a #fragment has no meaning here")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, errAmbiguous
	}
	t := target{user: u.User.Username()}
	t.password, _ = u.User.Password()
	switch u.Scheme {
	case "redis", "rediss", "valkey", "valkeys":
		t.tls = u.Scheme == "rediss" || u.Scheme == "valkeys"
		err = t.readTCP(u, query)
	case "unix":
		err = t.readUnix(u, query)
	default:
		err = fmt.Errorf("scheme %q is not redis, rediss, valkey, valkeys or unix", u.Scheme)
	}
	return t, err
}

func (t *target) readTCP(u *url.URL, query url.Values) error {
	for name := range query {
		return fmt.Errorf("unknown parameter %q; %s:// takes none", name, u.Scheme)
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return errors.New("no host")
	}
	if _, err := netip.ParseAddr(host); err != nil && strings.ContainsFunc(host, notInName) {
		return fmt.Errorf("host %q is neither a name nor an address; an IPv6 address stands in [brackets]", host)
	}
	if port == "" {
		port = driver.DefaultPort
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	t.network, t.addr = "tcp", net.JoinHostPort(host, port)
	return t.readDB(strings.Trim(u.Path, "/"))
}

// notInName leaves characters beyond ASCII to the resolver.
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
			return fmt.Errorf("parameter %q is given twice", name)
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
			return fmt.Errorf("unknown parameter %q; unix:// takes db, user and password", name)
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
		return fmt.Errorf("database %q is not a number from 0 up", text)
	}
	t.db = int(n)
	return nil
}

// label shows as much of a URL as an operator needs to find it, and no password.
func label(text string) string {
	rest, _, _ := strings.Cut(text[strings.LastIndexByte(text, '@')+1:], "?") // a unix:// URL may have the password there
	if !strings.Contains(text, "@") {
		// A password may be cut in two, by a comma in a list: what looks like host:port
		// is shown only if it is one.
		scheme, host, _ := strings.Cut(rest, "://")
		if _, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789/") != "" && !strings.HasPrefix(host, "[") {
			return scheme + "://…"
		}
		return rest
	}
	for _, scheme := range []string{"redis://", "rediss://", "valkey://", "valkeys://", "unix://"} {
		if strings.HasPrefix(text, scheme) {
			return scheme + "…@" + rest
		}
	}
	return "…@" + rest
}
