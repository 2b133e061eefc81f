package rueidisnode_test

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

func TestTLSChecksTheCertificate(t *testing.T) {
	server := redistest.Start(t, redistest.TLS())
	for name, c := range map[string]struct {
		opts    []rueidisnode.Option
		trusted bool
	}{
		"system": {nil, false},
		"own":    {[]rueidisnode.Option{rueidisnode.TLSConfig(server.TLSConfig())}, true},
	} {
		n, err := rueidisnode.New(server.TLSURL(), c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		r := n.Eval(t.Context(), `return 'in'`, node.Call{})
		var unknown x509.UnknownAuthorityError
		switch {
		case c.trusted && (r.Err != nil || r.Value != "in"):
			t.Errorf("%s: %v", name, r)
		case !c.trusted && (!errors.As(r.Err, &unknown) || !node.Unsent(r.Err)):
			t.Errorf("%s: %v", name, r)
		}
	}
}

// The URL names the authority, the certificate and the key. Somebody replaces the files while the node is in use.
func TestCertificatesComeFromTheFilesOfTheURL(t *testing.T) {
	server := redistest.Start(t, redistest.TLS(), redistest.Args("--tls-auth-clients", "yes"))
	dir := t.TempDir()
	copied := func(name string) string {
		file := server.MustDo(t, "CONFIG", "GET", name).([]any)[1].(string)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cert, key := copied("tls-cert-file"), copied("tls-key-file")
	ask := func(n node.Node) error { return n.Eval(t.Context(), `return 'in'`, node.Call{}).Err }
	without, err := rueidisnode.New(server.TLSURL() + "?cacert=" + cert)
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	if err := ask(without); err == nil {
		t.Error("a client without a certificate gets an answer")
	}
	url := server.TLSURL() + "?cacert=" + cert + "&cert=" + cert + "&key=" + key
	n, err := rueidisnode.New(url)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := ask(n); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	for _, file := range []string{cert, key} {
		if err := os.WriteFile(file, []byte("half of it"), 0o600); err != nil {
			t.Fatal(err)
		}
		server.MustDo(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		_ = ask(n)
		if err := ask(n); err != nil {
			t.Errorf("while somebody replaces %s: %v", file, err)
		}
	}
	for _, file := range []string{cert, key} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server.MustDo(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	_ = ask(n)
	if err := ask(n); err != nil {
		t.Errorf("while the files are folders: %v", err)
	}
	for _, file := range []string{cert, key} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("half of it"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rueidisnode.New(url); err == nil || !strings.Contains(err.Error(), "cacert: "+cert+": no certificate") ||
		!strings.Contains(err.Error(), "cert and key: "+cert+" and "+key) {
		t.Errorf("a new node: %v", err)
	}
	if _, err := rueidisnode.New(url, rueidisnode.TLSConfig(server.TLSConfig())); err == nil || !strings.Contains(err.Error(), "give one of them") {
		t.Errorf("with TLSConfig: %v", err)
	}
}

// The server never answers the TLS handshake.
func TestTLSHandshakeEndsWithTheContext(t *testing.T) {
	server := redistest.Start(t, redistest.TLS())
	server.Freeze()
	n, err := rueidisnode.New(server.TLSURL(), rueidisnode.TLSConfig(server.TLSConfig()))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r := n.Eval(ctx, `return 'in'`, node.Call{}); !node.Timeout(r.Err) || !node.Unsent(r.Err) {
		t.Errorf("%v, unsent %v", r.Err, node.Unsent(r.Err))
	}
}

// The deadline also applies to connections over TLS, and to writes.
func TestTLSGivesUpAWriteThatHangs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.TLS())
	n, err := rueidisnode.New(server.TLSURL(), rueidisnode.TLSConfig(server.TLSConfig()))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if r := n.Eval(t.Context(), `return 'in'`, node.Call{}); r.Err != nil {
		t.Fatal(r)
	}
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	r := n.Eval(ctx, `return 'in'`, node.Call{Args: []string{strings.Repeat("x", 32<<20)}})
	if took := time.Since(begin); !node.Timeout(r.Err) || took > 3*time.Second {
		t.Errorf("%v after %v", r.Err, took)
	}
}
