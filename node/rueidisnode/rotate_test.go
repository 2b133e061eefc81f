package rueidisnode_test

import (
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A password that changes costs no connection that exists. New connections use the new one as soon as the program
// knows it.
func TestAPasswordChangesWhileTheNodeIsInUse(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.MustDo(t, "ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all")
	url := func(password string) string { return strings.Replace(server.URL(), "://", "://app:"+password+"@", 1) }
	var present atomic.Value
	present.Store(url("old"))
	n, err := rueidisnode.New(url("old"), rueidisnode.Rotating(func() (string, error) {
		if s := present.Load().(string); s != "" {
			return s, nil
		}
		return "", errors.New("no file")
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ask := func() error { return n.Eval(t.Context(), `return 'in'`, node.Call{}).Err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	server.MustDo(t, "ACL", "SETUSER", "app", ">new", "<old")
	if err := ask(); err != nil {
		t.Errorf("on the connection that exists: %v", err)
	}
	kill := func() { server.MustDo(t, "CLIENT", "KILL", "USER", "app") }
	kill()
	_ = ask() // may meet the end of the old connection
	if err := ask(); node.Code(err) != node.WrongPass {
		t.Errorf("with the old password: %v; want WRONGPASS", err)
	}
	present.Store(url("new"))
	if err := ask(); err != nil {
		t.Errorf("with the new password: %v", err)
	}
	for _, bad := range []string{"", "redis://other:6379", "no URL"} {
		present.Store(bad)
		kill()
		_ = ask()
		if err := ask(); err != nil {
			t.Errorf("with the URL %q: %v; want the last good password", bad, err)
		}
	}
}

// The file of SSL_CERT_FILE may change while the program runs.
func TestACertificateAuthorityChangesWhileTheNodeIsInUse(t *testing.T) {
	server, other := redistest.Start(t, redistest.TLS()), redistest.Start(t, redistest.TLS())
	file := func(s *redistest.Server, name string) string {
		return s.MustDo(t, "CONFIG", "GET", name).([]any)[1].(string)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	trust := func(s *redistest.Server) {
		text, err := os.ReadFile(file(s, "tls-cert-file"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ca+".new", append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(ca+".new", ca); err != nil {
			t.Fatal(err)
		}
	}
	trust(server)
	t.Setenv("SSL_CERT_FILE", ca)
	n, err := rueidisnode.New(server.TLSURL())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ask := func() error { return n.Eval(t.Context(), `return 'in'`, node.Call{}).Err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	cert, key := file(other, "tls-cert-file"), file(other, "tls-key-file")
	server.MustDo(t, "CONFIG", "SET", "tls-cert-file", cert, "tls-key-file", key, "tls-ca-cert-file", cert)
	if err := ask(); err != nil {
		t.Errorf("on the connection that exists: %v", err)
	}
	server.MustDo(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	_ = ask()
	var unknown x509.UnknownAuthorityError
	if err := ask(); !errors.As(err, &unknown) {
		t.Errorf("with the old authority: %v; want an unknown authority", err)
	}
	trust(other)
	if err := ask(); err != nil {
		t.Errorf("with the new authority: %v", err)
	}
}
