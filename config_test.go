package holdfast_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
)

// nowhere returns n nodes with different addresses.
func nowhere(t *testing.T, n int) (nodes []node.Node) {
	t.Helper()
	for i := range n {
		nodes = append(nodes, model(fmt.Sprintf("redis://127.0.0.1:1/%d", i)))
	}
	return nodes
}

// replicated is a node whose grants count when a replica has them.
type replicated struct{ node.Node }

func (replicated) Replication() node.Replication {
	return node.Replication{Declared: true, Replicas: 1, Within: node.DefaultWithin}
}

func TestABadConfigNamesFieldValueAndBound(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct {
		says   string
		change func(*holdfast.Config)
	}{
		{"Nodes is empty; give at least one", func(c *holdfast.Config) { c.Nodes = nil }},
		{"Nodes has 32 nodes; at most 31", func(c *holdfast.Config) { c.Nodes = nowhere(t, 32) }},
		{"Nodes[1] is nil", func(c *holdfast.Config) { c.Nodes[1] = nil }},
		{"Nodes[0] and Nodes[2] are the same server: redis://127.0.0.1:1/0", func(c *holdfast.Config) { c.Nodes[2] = c.Nodes[0] }},
		{"Nodes[0] and Nodes[1] are the same server: redis://127.0.0.1:1/0", func(c *holdfast.Config) { c.Nodes[1] = nowhere(t, 1)[0] }},
		{"MaxTTL is 30m0.001s; it must be at most 30m", func(c *holdfast.Config) { c.MaxTTL = 30*time.Minute + time.Millisecond }},
		{"MaxTTL is -1s and Window 250ms, but MaxTTL must be at least 8 × Window = 2s: lower Window or raise MaxTTL", func(c *holdfast.Config) { c.MaxTTL = -time.Second }},
		{"MaxTTL is 1s and Window 250ms, but MaxTTL must be at least 8 × Window = 2s: lower Window or raise MaxTTL", func(c *holdfast.Config) { c.MaxTTL = time.Second }},
		{"MaxTTL is 10.0005s", func(c *holdfast.Config) { c.MaxTTL = 10*time.Second + 500*time.Microsecond }},
		{"Window is 999µs; it must be at least 1ms", func(c *holdfast.Config) { c.Window = 999 * time.Microsecond }},
		{"Window is -1s; it must be at least 1ms", func(c *holdfast.Config) { c.Window = -time.Second }},
		{"MaxTTL is 10s and Window 2s, but MaxTTL must be at least 8 × Window = 16s: lower Window or raise MaxTTL", func(c *holdfast.Config) { c.Window = 2 * time.Second }},
		{"Window is 640511h56m49.214s; it must be at most MaxTTL / 8 = 1.25s", func(c *holdfast.Config) { c.Window = 2305843009214 * time.Millisecond }}, // eight times that is 2.4 ms, modulo 2^64
		{"must be whole milliseconds", func(c *holdfast.Config) { c.Window = 1500 * time.Microsecond }},
		{"TTL is 1.999s; it must be from 8 × Window = 2s to MaxTTL = 10s", func(c *holdfast.Config) { c.TTL = 1999 * time.Millisecond }},
		{"TTL is 10.001s; it must be from 8 × Window = 2s to MaxTTL = 10s", func(c *holdfast.Config) { c.TTL = 10001 * time.Millisecond }},
		{"TTL is -1s", func(c *holdfast.Config) { c.TTL = -time.Second }},
		{"NodeTimeout is 1µs; it must be from 1ms to MaxTTL = 10s", func(c *holdfast.Config) { c.NodeTimeout = time.Microsecond }},
		{"NodeTimeout is 100ms, and the node redis://127.0.0.1:1/0 waits for replicas for 100ms", func(c *holdfast.Config) {
			c.NodeTimeout, c.Nodes = 100*time.Millisecond, []node.Node{replicated{c.Nodes[0]}}
		}},
		{"NodeTimeout is 11s; it must be from 1ms to MaxTTL = 10s", func(c *holdfast.Config) { c.NodeTimeout = 11 * time.Second }},
		{"RetryDelay is 1µs; it must be from 1ms", func(c *holdfast.Config) { c.RetryDelay = time.Microsecond }},
		{"RetryDelay is 1h0m0s; it must be from 1ms to 30m", func(c *holdfast.Config) { c.RetryDelay = time.Hour }},
		{"PollGap is -1s; it must be 0, for no gaps, or from 1ms to MaxTTL / 2 = 5s", func(c *holdfast.Config) { c.PollGap = -time.Second }},
		{"PollGap is 1µs; it must be 0, for no gaps, or from 1ms", func(c *holdfast.Config) { c.PollGap = time.Microsecond }},
		{"PollGap is 5.000000001s; it must be 0", func(c *holdfast.Config) { c.PollGap = 5*time.Second + 1 }},
		{"PollGap is 250ms and Private is true", func(c *holdfast.Config) { c.PollGap, c.Private = 250*time.Millisecond, true }},
		{"Observers[1] has no Observe; set the function", func(c *holdfast.Config) {
			c.Observers = []holdfast.Observer{{Observe: func(*holdfast.Event) {}}, {}}
		}},
		{"Observers[0].Kinds[0] is 200; it must be one of the constants EventOpened (0) to EventDelay (13)", func(c *holdfast.Config) {
			c.Observers = []holdfast.Observer{{Kinds: []holdfast.EventKind{200}, Observe: func(*holdfast.Event) {}}}
		}},
		{`Cluster is "a b"; up to 64 letters`, func(c *holdfast.Config) { c.Cluster = "a b" }},
		{`Cluster is "é"`, func(c *holdfast.Config) { c.Cluster = "é" }},
		{"up to 64 letters", func(c *holdfast.Config) { c.Cluster = strings.Repeat("c", 65) }},
		{`Label is "a~b"; up to 64 printable ASCII characters without "~"`, func(c *holdfast.Config) { c.Label = "a~b" }},
		{`Label is "a\nb"`, func(c *holdfast.Config) { c.Label = "a\nb" }},
		{`Label is "web 3"`, func(c *holdfast.Config) { c.Label = "web 3" }},
		{"up to 64 printable", func(c *holdfast.Config) { c.Label = strings.Repeat("l", 65) }},
		{`Prefix is "}:", behind which no name is allowed: name "}:x" has unbalanced braces`, func(c *holdfast.Config) { c.Prefix = "}:" }},
		{`Prefix is "{}:", behind which no name is allowed`, func(c *holdfast.Config) { c.Prefix = "{}:" }},
		{`Prefix is "holdfast:nodes:", behind which no name is allowed`, func(c *holdfast.Config) { c.Prefix = "holdfast:nodes:" }},
		{"Prefix has 513 bytes; at most 512", func(c *holdfast.Config) { c.Prefix = strings.Repeat("p", 513) }},
	} {
		cfg := holdfast.Config{Nodes: nowhere(t, 3)}
		bad.change(&cfg)
		c, err := holdfast.New(cfg)
		if err == nil {
			c.Close()
			t.Errorf("accepted; want an error that says %q", bad.says)
		} else if !strings.HasPrefix(err.Error(), "holdfast: Config.") || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%v; want one that says %q", err, bad.says)
		}
	}
}

func TestABadConfigIsNamedInOtherWordsToo(t *testing.T) {
	t.Parallel()
	_, err := holdfast.New(holdfast.Config{Nodes: nowhere(t, 1), MaxTTL: time.Second})
	var bad *holdfast.ConfigError
	if !errors.As(err, &bad) || bad.Field != "MaxTTL" {
		t.Fatalf("%v is not about MaxTTL", err)
	}
	if got, want := bad.Named(func(field string) string { return "100%" + field }), "100%MaxTTL is 1s and 100%Window 250ms, but 100%MaxTTL must be at least 8 × 100%Window = 2s: lower 100%Window or raise 100%MaxTTL"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	_, err = holdfast.New(holdfast.Config{Nodes: nowhere(t, 1), Prefix: "}{MaxTTL}:"})
	if !errors.As(err, &bad) || bad.Field != "Prefix" || !strings.Contains(err.Error(), `Prefix is "}{MaxTTL}:"`) {
		t.Errorf("a value that looks like a field: %v", err)
	}
}

func TestBoundsOfAConfigAreAllowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*holdfast.Config){
		"nothing given": func(*holdfast.Config) {},
		"one node":      func(c *holdfast.Config) { c.Nodes = c.Nodes[:1] },
		"31 nodes":      func(c *holdfast.Config) { c.Nodes = nowhere(t, 31) },
		"largest": func(c *holdfast.Config) {
			c.MaxTTL, c.TTL, c.NodeTimeout = 30*time.Minute, 30*time.Minute, 30*time.Minute
		},
		"largest gap": func(c *holdfast.Config) { c.PollGap = 5 * time.Second },
		"smallest": func(c *holdfast.Config) {
			c.Window, c.MaxTTL, c.TTL, c.NodeTimeout, c.RetryDelay = time.Millisecond, 8*time.Millisecond, 8*time.Millisecond, time.Millisecond, time.Millisecond
			c.PollGap = time.Millisecond
		},
		"a small MaxTTL bounds the default TTL and node timeout": func(c *holdfast.Config) { c.Window, c.MaxTTL = 10*time.Millisecond, 100*time.Millisecond },
		"a prefix whose brace names close":                       func(c *holdfast.Config) { c.Prefix = "{tenant-" },
		"names": func(c *holdfast.Config) {
			c.Cluster, c.Label, c.Prefix = "eu-1/prod.a:b_c", "web-3/4711!", "\x00{tag}:"
		},
	} {
		cfg := holdfast.Config{Nodes: nowhere(t, 3)}
		change(&cfg)
		c, err := holdfast.New(cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Close()
	}
}
