package exampleset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// Window is the window of all clients. It is four times the default, because examples also run on busy machines.
const Window = time.Second

var model = sync.OnceValue(func() *nodemodel.Node {
	set := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: Window, Cluster: "examples"}
	n := nodemodel.Master("redis://10.0.0.1:6379/0", func() int64 { return time.Now().UnixMicro() }, set)
	n.Serve()
	return n
})

// Config completes the configuration of a client. The clients of all configurations have the same node, the executable
// specification of a node, which requires no driver.
func Config(c holdfast.Config) holdfast.Config {
	c.Nodes, c.Window, c.MaxTTL, c.NodeTimeout, c.Cluster = []node.Node{shared{model()}}, Window, 10*time.Second, 5*time.Second, "examples"
	return c
}

// shared is the node of several clients, with the scripts of an operator's list.
type shared struct{ *nodemodel.Node }

// Close does nothing: other clients use the node.
func (shared) Close() {}

// Eval does what [nodemodel.Node.Eval] does, and knows the texts of scan, have and look.
func (n shared) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	var out strings.Builder
	switch text {
	case nodescript.ScanText():
		out.WriteString("0\n")
		for _, k := range n.Keys() {
			if strings.HasSuffix(k.Name, strings.TrimPrefix(c.Args[1], "*")) {
				out.WriteString(digits(len(k.Name), 4) + k.Name)
			}
		}
	case nodescript.HaveText():
		for _, key := range c.Keys {
			has := slices.ContainsFunc(n.Keys(), func(k nodemodel.Key) bool { return k.Name == key })
			out.WriteString(map[bool]string{true: "1", false: "0"}[has])
		}
	case nodescript.LookText():
		out.WriteString("memory\n")
		for keys := range slices.Chunk(c.Keys, 4) {
			view := n.Node.Eval(ctx, nodescript.InspectText(), node.Call{Keys: keys[:2]})
			if view.Err != nil {
				return view
			}
			waiters := n.Queue(keys[2])
			var first int64 // the ticket
			if len(waiters) > 0 {
				first, _ = nodescript.Ticket(waiters[0])
			}
			value := ""
			for _, k := range n.Keys() {
				if k.Name == keys[3] {
					value = k.Text[min(len(k.Text), 40):min(len(k.Text), 41+nodescript.HeadOfValue)]
				}
			}
			out.WriteString(digits(len(view.Value), 6) + view.Value + digits(len(waiters), 6) + digits(int(first), 16) + digits(len(value), 3) + value)
		}
	default:
		return n.Node.Eval(ctx, text, c, load...)
	}
	return node.Reply{Value: out.String()}
}

func digits(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", width-len(s)) + s
}

// Open returns a new node for each URL. The nodes vote for clients with the default configuration.
func Open(urls ...string) ([]node.Node, error) {
	named, err := holdfast.New(holdfast.Config{Nodes: models(urls)})
	if err != nil {
		return nil, err
	}
	cluster := named.Stats().Cluster
	_ = named.Close()
	return models(urls, nodescript.Config{N: len(urls), MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: cluster}), nil
}

// OpenSets returns the nodes of several sets, for [holdfast.Sharded]. They vote for clients with the default
// configuration.
func OpenSets(urls ...[]string) (sets [][]node.Node, err error) {
	for _, of := range urls {
		sets = append(sets, models(of))
	}
	named, err := holdfast.New(holdfast.Config{Nodes: holdfast.Sharded(sets...)})
	if err != nil {
		return nil, err
	}
	cluster := named.Stats().Cluster
	_ = named.Close()
	for i, of := range urls {
		name := fmt.Sprintf("%s:%d-of-%d", cluster, i+1, len(urls))
		sets[i] = models(of, nodescript.Config{N: len(of), MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: name})
	}
	return sets, nil
}

func models(urls []string, configs ...nodescript.Config) (nodes []node.Node) {
	for _, url := range urls {
		n := nodemodel.Master(url, func() int64 { return time.Now().UnixMicro() }, configs...)
		n.Serve()
		nodes = append(nodes, n)
	}
	return nodes
}
