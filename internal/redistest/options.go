package redistest

// Option changes how [Start] runs a server.
type Option func(*config)

type config struct {
	args     []string
	durable  bool
	clock    bool
	socket   bool
	tls      bool
	password string
}

// Durable makes the server keep every write: appendonly yes, appendfsync always.
func Durable() Option { return func(c *config) { c.durable = true } }

// Args adds arguments of redis-server, such as "--maxmemory", "10mb". They come
// last, so they win.
func Args(args ...string) Option {
	return func(c *config) { c.args = append(c.args, args...) }
}

// WithClock runs the server under a clock that [Server.Step] and [Server.SetClock]
// move. Only the wall clock: what Redis measures monotonically is not touched.
func WithClock() Option { return func(c *config) { c.clock = true } }

// UnixSocket makes the server listen on a socket as well: [Server.SocketURL].
func UnixSocket() Option { return func(c *config) { c.socket = true } }

// TLS makes the server listen on a second port with a certificate of its own:
// [Server.TLSURL] and [Server.TLSConfig].
func TLS() Option { return func(c *config) { c.tls = true } }

// Password is what clients must give (requirepass). [Server.URL] does not contain it.
func Password(p string) Option { return func(c *config) { c.password = p } }
