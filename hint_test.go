package holdfast

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// An error about a node's address has a hint that says what may be wrong.
func TestAWrongAddressHasAHint(t *testing.T) {
	for want, err := range map[string]error{
		"no such host":                   fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}}),
		"there is no socket":             &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)},
		"the server has fewer databases": node.ServerError("ERR DB index is out of range"),
		"nothing listens":                os.NewSyscallError("connect", syscall.ECONNREFUSED),
		"lacks a right":                  node.ServerError("NOPERM no"),
	} {
		n := NodeAnswer{Node: "redis://h:6379/99"}
		n.failed(err)
		un := &UnavailableError{Name: "x", Nodes: []NodeAnswer{n}}
		if hint := un.Hint(); !strings.Contains(hint, want) || !strings.Contains(un.Error(), "(hint: "+hint+")") {
			t.Errorf("%v: the hint is %q, want %q", err, hint, want)
		}
	}
}
