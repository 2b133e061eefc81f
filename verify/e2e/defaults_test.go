package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The test checks the settings of a client that sets only nodes, as other clients and the nodes see them.
func TestDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	nodes, err := rueidisnode.Open(s.urls...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lease := lock(t, s.ready(c), "x")
	if left := time.Until(lease.Deadline()); left > 8898*time.Millisecond || left < 7*time.Second {
		t.Errorf("a fresh lease is valid for %s; want 10 s − 4 × 250 ms − 100 ms − 2 ms", left)
	}
	began := time.Now()
	least := lock(t, c, "y", holdfast.WithTTL(2*time.Second))
	valid, took := least.Deadline().Sub(began), time.Since(began)
	if want := 978 * time.Millisecond; valid < want-time.Millisecond || valid > want+took {
		t.Errorf("a lease of the smallest TTL is valid for %s; want 2 s − 4 × 250 ms − 20 ms − 2 ms, and up to %s for the call", valid, took)
	}
	label, _, _ := strings.Cut(lease.Owner(), "~")
	if host, _ := os.Hostname(); !strings.HasPrefix(label, host[:1]) || !strings.HasSuffix(label, fmt.Sprint("/", os.Getpid())) {
		t.Errorf("label %q; want host name/process id", label)
	}
	guard, _ := s.servers[0].MustDo(t, "GET", "holdfast:node").(string)
	for _, part := range []string{"nodes=1 ", "max-ttl=10s ", "window=250ms ", "durable=no "} {
		if !strings.Contains(guard, part) {
			t.Errorf("the node keeps %q; want %q in it", guard, part)
		}
	}
}
