package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// A file of authorities that cannot be used is named while a command runs, and by a connection that fails because of
// it.
func TestABadFileOfAuthoritiesIsNamed(t *testing.T) {
	server := redistest.Start(t, redistest.TLS())
	garbage := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{garbage: garbage + ": no certificate", "/nope": "/nope: no such file"} {
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
		if hint := s.nodesHint(list); !strings.Contains(hint, "--cacert /path/ca.pem") {
			t.Errorf("the hint is %q", hint)
		}
		if says := (&settings{nodes: nodeList{server.URL()}}).reread(); len(says) > 0 {
			t.Errorf("without TLS it says %q", says)
		}
	}
}

// A server that wants certificates of its clients gets them from the flags.
func TestFlagsNameTheFilesOfCertificates(t *testing.T) {
	server := redistest.Start(t, redistest.TLS(), redistest.Args("--tls-auth-clients", "yes"))
	file := func(name string) string { return server.MustDo(t, "CONFIG", "GET", name).([]any)[1].(string) }
	cert, key := file("tls-cert-file"), file("tls-key-file")
	spaced := filepath.Join(t.TempDir(), "my ca+1.pem")
	if err := os.Link(cert, spaced); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		bad  string // the error of the flags
		says string // by the node or in the hint
	}{
		{[]string{"--cacert", cert, "--cert", cert, "--key", key}, "", ""},
		{nil, "", "--cacert /path/ca.pem"},
		{[]string{"--nodes", strings.Replace(server.TLSURL(), "rediss", "REDISS", 1), "--cacert", key}, "--cacert (or HOLDFAST_CACERT): " + key + ": no certificate", ""},
		{[]string{"--cacert", spaced, "--cert", cert, "--key", key}, "", ""},
		{[]string{"--cacert", cert}, "", "--cert /path/cert.pem --key /path/key.pem"},
		{[]string{"--cacert", key}, "--cacert (or HOLDFAST_CACERT): " + key + ": no certificate", ""},
		{[]string{"--cert", cert}, "--cert and --key (or HOLDFAST_CERT and HOLDFAST_KEY) go together", ""},
		{[]string{"--nodes", server.URL(), "--cacert", cert}, "--cacert is for servers with TLS, and no URL begins with rediss://", ""},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		var s settings
		s.register(flags)
		if err := flags.Parse(append([]string{"--nodes", server.TLSURL()}, c.args...)); err != nil {
			t.Fatal(err)
		}
		if len(c.args) > 0 && c.args[0] == "--nodes" {
			s.nodes = nodeList{c.args[1]}
		}
		err := s.environ(flags)
		var client *holdfast.Client
		if err == nil {
			client, err = s.open(newTalker(os.Stderr), nil)
		}
		if err != nil {
			if c.bad == "" || !strings.HasPrefix(err.Error(), c.bad) {
				t.Errorf("%q: %v, want %q", c.args, err, c.bad)
			}
			continue
		}
		list := admin.Nodes(t.Context(), client)
		_ = client.Close()
		switch hint := verdict.Hint(list); {
		case c.bad != "":
			t.Errorf("%q is accepted; want %q", c.args, c.bad)
		case c.says != "" && !strings.Contains(hint, c.says):
			t.Errorf("%q: the hint is %q, want %q", c.args, hint, c.says)
		case c.says == "" && list[0].Reason != verdict.ReasonQuarantined && list[0].Reason != verdict.ReasonVotes:
			t.Errorf("%q: %s", c.args, list[0].Said())
		}
	}
}
