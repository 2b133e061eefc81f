package rueidisnode

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// This file reads passwords and certificates again while a node is in use.

// Rotating makes the node take its user and passwords, also those of Sentinels, from the URL that the function url
// returns. The node calls url before each new connection, one call at a time, so that a password can be changed while
// the program runs. If url returns an error or a URL with another address than the one of [New], or takes longer than a
// second, the node uses the last good one. Connections that exist are kept: Redis does not end them when a password
// changes.
func Rotating(url func() (string, error)) Option {
	return func(n *Node) error {
		if url == nil {
			return errors.New("the function of Rotating is nil")
		}
		n.rotating = url
		return nil
	}
}

// mostLogin is the time that a new connection gives the function of [Rotating].
const mostLogin = time.Second

// login returns the target with the present user and passwords. If the function of Rotating takes too long, login
// returns the last good one. The function runs once at a time.
func (n *Node) login() target {
	if n.rotating == nil {
		return n.target
	}
	n.logins.Lock()
	if n.asked == nil {
		done := make(chan struct{})
		n.asked = done
		go func() { // not bound to Close: nobody can end the function
			text, err := n.rotating()
			n.logins.Lock()
			defer n.logins.Unlock()
			n.asked = nil
			close(done)
			if err != nil {
				return
			}
			if t, err := parse(text); err == nil && t.place() == n.target.place() {
				n.latest = t
			}
		}()
	}
	asked := n.asked
	n.logins.Unlock()
	timer := time.NewTimer(mostLogin)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
	case <-n.ctx.Done():
	}
	n.logins.Lock()
	defer n.logins.Unlock()
	return n.latest
}

// place returns the parts of a target that are no secrets.
func (t target) place() target {
	return target{network: t.network, addr: t.addr, tls: t.tls, db: t.db, sentinels: t.sentinels, master: t.master}
}

// systemTLS returns the TLS settings of a node without [TLSConfig]. Go reads the certificate authorities of the system
// once per process. If SSL_CERT_FILE names a file, systemTLS reads it again when it has changed.
func systemTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities.pool()}
}

// authorities are those of SSL_CERT_FILE, and of SSL_CERT_DIR if that is set, too.
var authorities rootFile

type rootFile struct {
	mu      sync.Mutex
	name    string
	changed time.Time
	size    int64
	roots   *x509.CertPool
}

// pool returns nil, which means the authorities of the system, if the system does not use SSL_CERT_FILE. If the file
// cannot be read or has no certificate, the last good ones are used.
func (r *rootFile) pool() *x509.CertPool {
	roots, _ := r.read()
	return roots
}

// Authorities returns an error if the file of SSL_CERT_FILE cannot be read or has no certificate. Nodes without
// [TLSConfig] then use the last authorities that they could read, or those of the system.
func Authorities() error {
	_, err := authorities.read()
	return err
}

// read does the same as pool. The error says why the file cannot be used.
func (r *rootFile) read() (*x509.CertPool, error) {
	name := os.Getenv("SSL_CERT_FILE")
	if name == "" || runtime.GOOS == "darwin" || runtime.GOOS == "ios" || runtime.GOOS == "windows" {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	about, err := os.Stat(name)
	if err != nil {
		return r.roots, fmt.Errorf("SSL_CERT_FILE: %w", err)
	}
	if name == r.name && about.ModTime().Equal(r.changed) && about.Size() == r.size {
		return r.roots, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return r.roots, fmt.Errorf("SSL_CERT_FILE: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return r.roots, fmt.Errorf("SSL_CERT_FILE: %s has no certificate in the form PEM", name)
	}
	for _, dir := range filepath.SplitList(os.Getenv("SSL_CERT_DIR")) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && !strings.HasPrefix(e.Name(), ".") {
				roots.AppendCertsFromPEM(text)
			}
		}
	}
	r.name, r.changed, r.size, r.roots = name, about.ModTime(), about.Size(), roots
	return roots, nil
}
