package redistest

import (
	"strings"
	"time"
)

// Option changes how [Start] runs a server.
type Option func(*config)

type config struct {
	args     []string
	durable  bool
	clock    bool
	socket   bool
	tls      bool
	password string
	users    []string // rules of users, as in a configuration file
	blind    bool     // the server has no INFO
	cluster  bool
	timeout  time.Duration // cluster-node-timeout
}

// Durable makes the server keep every write: appendonly yes, appendfsync always.
func Durable() Option { return func(c *config) { c.durable = true } }

// Args adds arguments of redis-server, such as "--maxmemory", "10mb". They come last, so they override other arguments.
func Args(args ...string) Option {
	return func(c *config) { c.args = append(c.args, args...) }
}

// Without takes commands away (rename-command), as some managed services do.
func Without(commands ...string) Option {
	return func(c *config) {
		for _, name := range commands {
			c.args = append(c.args, "--rename-command", name, "")
			c.blind = c.blind || name == "INFO"
		}
	}
}

// WithClock runs the server under a wall clock that [Server.Step] and [Server.SetClock] move. The monotonic clock of
// Redis does not change.
func WithClock() Option { return func(c *config) { c.clock = true } }

// NodeTimeout sets cluster-node-timeout for [StartCluster]: a replica begins its election when its master did not answer
// for so long. Defaults to 2 s.
func NodeTimeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// UnixSocket makes the server also listen on a socket: see [Server.SocketURL].
func UnixSocket() Option { return func(c *config) { c.socket = true } }

// TLS makes the server listen on a second port with its own certificate: see [Server.TLSURL] and [Server.TLSConfig].
func TLS() Option { return func(c *config) { c.tls = true } }

// Password sets the password of the server (requirepass). [Server.URL] does not contain it.
func Password(p string) Option { return func(c *config) { c.password = p } }

// User makes a user of the server, with a password and rights such as "~x*" and "+get". The user survives restarts.
func User(name, password string, rights ...string) Option {
	return func(c *config) {
		c.users = append(c.users, strings.Join(append([]string{name, "on", ">" + password}, rights...), " "))
	}
}
