package rueidisnode

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// This file reads certificates from files, and again when a file has changed while a node is in use.

// certificates are the files that a URL names with cacert, cert and key, as the flags of redis-cli do.
type certificates struct {
	ca        string // the authorities of servers; "": those of the system
	cert, key string // the certificate of this client and its key; "": none
}

// readCertificates moves the names of files from the parameters of a URL to t.
func (t *target) readCertificates(query url.Values) error {
	for name, file := range map[string]*string{"cacert": &t.files.ca, "cert": &t.files.cert, "key": &t.files.key} {
		values, given := query[name]
		switch {
		case !given:
			continue
		case !t.tls:
			return errors.New(name + " needs a URL over TLS, such as rediss://")
		case len(values) > 1:
			return errors.New("a parameter is given twice")
		case values[0] == "":
			return errors.New(name + " is empty; want the name of a file in PEM")
		}
		*file = values[0]
		delete(query, name)
	}
	if (t.files.cert == "") != (t.files.key == "") {
		return errors.New("cert and key go together: a client needs both files")
	}
	return nil
}

// config returns the TLS settings of a new connection. The error says which file cannot be used now. The settings then
// have the last good content of that file.
func (n *Node) config() (*tls.Config, error) {
	if n.tls != nil {
		return n.tls, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	f := n.target.files
	var err, bad error
	if f.ca == "" {
		c.RootCAs, err = systemRoots()
	} else if c.RootCAs, err = n.roots.read(authorities, f.ca); err != nil {
		err = fmt.Errorf("cacert: %w", err)
	}
	if f.cert != "" {
		if c.Certificates, bad = n.pairs.read(keyPair, f.cert, f.key); bad != nil {
			bad = fmt.Errorf("cert and key: %w", bad)
		}
	}
	return c, errors.Join(err, bad)
}

// system are the authorities of SSL_CERT_FILE, and of SSL_CERT_DIR if that is set, too.
var system pemFiles[*x509.CertPool]

// systemRoots returns the authorities of servers if a URL names none. Go reads those of the system once per process. If
// SSL_CERT_FILE names a file, systemRoots reads it again when it has changed. nil means those of the system.
func systemRoots() (*x509.CertPool, error) {
	name := os.Getenv("SSL_CERT_FILE")
	if name == "" || runtime.GOOS == "darwin" || runtime.GOOS == "ios" || runtime.GOOS == "windows" {
		return nil, nil
	}
	pool, err := system.read(func(texts [][]byte) (*x509.CertPool, error) {
		pool, err := authorities(texts)
		if err != nil {
			return nil, err
		}
		for _, dir := range filepath.SplitList(os.Getenv("SSL_CERT_DIR")) {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && !strings.HasPrefix(e.Name(), ".") {
					pool.AppendCertsFromPEM(text)
				}
			}
		}
		return pool, nil
	}, name)
	if err != nil {
		err = fmt.Errorf("SSL_CERT_FILE: %w", err)
	}
	return pool, err
}

// Authorities returns an error if the file of SSL_CERT_FILE cannot be read or has no certificate. Nodes whose URL has no
// cacert, and that have no [TLSConfig], then use the last authorities that they could read, or those of the system.
func Authorities() error {
	_, err := systemRoots()
	return err
}

func authorities(texts [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(texts[0]) {
		return nil, errors.New("no certificate in the form PEM")
	}
	return pool, nil
}

func keyPair(texts [][]byte) ([]tls.Certificate, error) {
	c, err := tls.X509KeyPair(texts[0], texts[1])
	return []tls.Certificate{c}, err
}

// pemFiles is the content of files that belong together. It is safe for concurrent use.
type pemFiles[T any] struct {
	mu   sync.Mutex
	seen []version
	good T // the last good content
}

// version tells a file from its next one.
type version struct {
	name          string
	changed, size int64
}

// read returns what parse makes of the files. It reads them only if one has changed since the last good content. After
// an error it returns that content: somebody may replace one file after the other.
func (p *pemFiles[T]) read(parse func(texts [][]byte) (T, error), names ...string) (T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now []version
	var texts [][]byte
	for _, name := range names {
		about, err := os.Stat(name)
		if err != nil {
			return p.good, err
		}
		now = append(now, version{name, about.ModTime().UnixNano(), about.Size()})
	}
	if slices.Equal(now, p.seen) {
		return p.good, nil
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return p.good, err
		}
		texts = append(texts, text)
	}
	content, err := parse(texts)
	if err != nil {
		return p.good, fmt.Errorf("%s: %w", strings.Join(names, " and "), err)
	}
	p.seen, p.good = now, content
	return content, nil
}
