package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A file of authorities that cannot be used is named while a command runs, and by a connection that fails because of
// it.
func TestABadFileOfAuthoritiesIsNamed(t *testing.T) {
	server := redistest.Start(t, redistest.TLS())
	garbage := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{garbage: garbage + " has no certificate", "/nope": "/nope: no such file"} {
		t.Setenv("SSL_CERT_FILE", file)
		s := &settings{nodes: nodeList{server.TLSURL()}}
		if says := s.reread(); len(says) != 1 || !strings.HasPrefix(says[0], "the certificate authorities are left as they were: SSL_CERT_FILE") || !strings.Contains(says[0], want) {
			t.Errorf("%s: %q, want %q", file, says, want)
		}
		client, err := s.open(newTalker(os.Stderr), nil)
		if err != nil {
			t.Fatal(err)
		}
		list := admin.Nodes(t.Context(), client)
		_ = client.Close()
		if said := list[0].Said(); !strings.Contains(said, "unknown authority") || !strings.Contains(said, want) {
			t.Errorf("%s: the node says %q, want %q", file, said, want)
		}
		if hint := s.nodesHint(list); !strings.Contains(hint, "SSL_CERT_FILE=/path/ca.pem") {
			t.Errorf("the hint is %q", hint)
		}
		if says := (&settings{nodes: nodeList{server.URL()}}).reread(); len(says) > 0 {
			t.Errorf("without TLS it says %q", says)
		}
	}
}
