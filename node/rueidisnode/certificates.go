package rueidisnode

import (
	"bytes"
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
	"time"
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
func (a *access) config() (*tls.Config, error) {
	if a.tls != nil {
		return a.tls, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	f := a.target.files
	var err, bad error
	if f.ca == "" {
		c.RootCAs, err = systemRoots()
	} else if c.RootCAs, err = a.roots.read(authorities, f.ca); err != nil {
		err = fmt.Errorf("cacert: %w", err)
	}
	if f.cert != "" {
		if c.Certificates, bad = a.pairs.read(keyPair, f.cert, f.key); bad != nil {
			bad = fmt.Errorf("cert and key: %w", bad)
		}
	}
	return c, errors.Join(err, bad)
}

// system are the authorities of SSL_CERT_FILE, and of SSL_CERT_DIR if that is set, too.
var system pemFiles[*x509.CertPool]

// systemRoots returns the authorities of servers if a URL names none. Go reads those of the system once per process. If
// SSL_CERT_FILE names a file, systemRoots reads it for each new connection. nil means those of the system.
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
	mu      sync.Mutex
	seen    [][]byte      // the files of the last good content
	good    T             // the last good content
	err     error         // of the last reading
	reading chan struct{} // closes when the running reading ends; nil: none runs
}

// mostPEM is the largest size of a file of certificates. The authorities of a system have 0.2 MiB.
const mostPEM = 8 << 20

// read returns what parse makes of the files. After an error it returns the last good content: somebody may replace one
// file after the other, and a file of a network may not answer. So it waits for the files for [mostLogin] at most.
func (p *pemFiles[T]) read(parse func(texts [][]byte) (T, error), names ...string) (T, error) {
	p.mu.Lock()
	if p.reading == nil {
		done := make(chan struct{})
		p.reading = done
		go func() { // not bound to Close: nobody can end the call of a file system
			texts, err := readAll(names)
			p.mu.Lock()
			defer p.mu.Unlock()
			defer close(done)
			p.reading, p.err = nil, err
			if err != nil || slices.EqualFunc(texts, p.seen, bytes.Equal) {
				return
			}
			content, err := parse(texts)
			if err != nil {
				p.err = fmt.Errorf("%s: %w", strings.Join(names, " and "), err)
				return
			}
			p.seen, p.good = texts, content
		}()
	}
	reading := p.reading
	p.mu.Unlock()
	timer := time.NewTimer(mostLogin)
	defer timer.Stop()
	late := false
	select {
	case <-reading:
	case <-timer.C:
		late = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if late {
		return p.good, fmt.Errorf("%s: no answer for %s", strings.Join(names, " and "), mostLogin)
	}
	return p.good, p.err
}

// readAll reads regular files.
func readAll(names []string) (texts [][]byte, err error) {
	for _, name := range names {
		about, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, err
		case !about.Mode().IsRegular():
			return nil, fmt.Errorf("%s is no regular file", name)
		case about.Size() > mostPEM:
			return nil, fmt.Errorf("%s has %d bytes; at most %d are allowed", name, about.Size(), mostPEM)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}
