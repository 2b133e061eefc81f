package rueidisnode

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"

	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// access is what a connection needs: the content of a URL, certificates and the present login. The nodes of a cluster
// share one access.
type access struct {
	target target
	tls    *tls.Config // see TLSConfig; nil: see config
	roots  pemFiles[*x509.CertPool]
	pairs  pemFiles[[]tls.Certificate]

	rotating func() (string, error) // see Rotating; nil: the target has the passwords for good
	logins   sync.Mutex
	latest   target          // the last good result of rotating; logins guards it
	asked    chan struct{}   // closes when the running call of rotating ends; nil: none runs; logins guards it
	life     context.Context // ends when the last node that uses the access is closed
}

func (a *access) dial(ctx context.Context, addr string) (conn, socket net.Conn, err error) {
	socket, err = driver.Dialer().DialContext(ctx, a.target.network, addr)
	if err != nil {
		return nil, nil, err
	}
	socket = driver.Prompt(socket)
	if !a.target.tls {
		return socket, socket, nil
	}
	config, file := a.config() // the error is for whom the handshake fails
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secure := tls.Client(socket, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = socket.Close() // an error only means that it was closed before
		if file != nil {
			err = fmt.Errorf("%w; %v", err, file)
		}
		return nil, nil, err
	}
	return secure, socket, nil
}

// bare connects without a client library.
func (a *access) bare(ctx context.Context, addr string) (net.Conn, error) {
	conn, _, err := a.dial(ctx, addr)
	return conn, err
}
