package rueidisnode_test

import (
	"context"
	"crypto/x509"
	"errors"
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
