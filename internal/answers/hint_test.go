package answers_test

import (
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// An error about a node's address has a hint that says what may be wrong.
func TestAWrongAddressHasAHint(t *testing.T) {
	for want, err := range map[string]error{
		"no such host":                   fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}}),
		"there is no socket":             &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)},
		"the server has fewer databases": node.ServerError("ERR DB index is out of range"),
		"nothing listens":                os.NewSyscallError("connect", syscall.ECONNREFUSED),
		"lacks a right":                  node.ServerError("NOPERM no"),
		"--cacert /path/ca.pem":          fmt.Errorf("connect: %w", x509.UnknownAuthorityError{}),
		"the address has moved":          fmt.Errorf("connect: %w", node.ErrElsewhere),
	} {
		n := verdict.Answer{Node: "redis://h:6379/99"}
		answers.Fail(&n, err)
		un := &holdfast.UnavailableError{Name: "x", Nodes: []verdict.Answer{n}}
		if hint := un.Hint(); !strings.Contains(hint, want) || !strings.Contains(un.Error(), "(hint: "+hint+")") {
			t.Errorf("%v: the hint is %q, want %q", err, hint, want)
		}
	}
}

// The node of an address that leads to several servers can be reached, and the hint says what to do.
func TestAnAddressOfSeveralServersHasAHint(t *testing.T) {
	un := &holdfast.UnavailableError{Nodes: []verdict.Answer{{Node: "redis://h:6379/0", Reason: verdict.ReasonUnfit, Cause: verdict.CauseSeveral}}}
	if hint := un.Hint(); !strings.HasPrefix(hint, "give the address of one server, not of a load balancer") {
		t.Errorf("the hint is %q", hint)
	}
	n := verdict.Answer{Node: "redis://h:6379/0"}
	answers.Fail(&n, fmt.Errorf("connect: %w", node.ErrElsewhere))
	if said := n.Said(); !n.Reachable() || said != "its address leads to another server now" {
		t.Errorf("%q, reachable: %t", said, n.Reachable())
	}
}
