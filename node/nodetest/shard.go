package nodetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// OpenShard makes the node of the only shard of a cluster, with the user and password of a redis:// URL. The driver calls
// dial, and nothing else, for each connection that asks for the topology. Close of the node closes the cluster.
type OpenShard func(t *testing.T, url string, dial func(ctx context.Context, addr string) (net.Conn, error)) node.Node

// RunShard tests the nodes of the shards of a driver's clusters. The server of each case is the master of a shard,
// although it is no cluster or no Redis at all: a goroutine answers the questions for the topology.
//
// The suite is that of [Run] without the cases that such a node does not have: a socket, a database, an address of its
// own, and proofs of where that leads. It also leaves out servers that do not answer INFO as a master does, and a restart
// that the node takes for another master: the node sends no call to them.
func RunShard(t *testing.T, open OpenShard) {
	suite{func(t *testing.T, url string) node.Node { return open(t, url, (&witness{t: t, url: url}).dial) }}.run(t, []string{
		"SocketAndDatabase", "AddrHasNoPassword", "UnknownDatabaseIsRefused", "IdentityIsProven", "LocalServerIsKnown",
		"READONLY", "EvalLoadsWhenItIsAnswered", "EvalLoadsWhereItWasAnswered", "ListenEndsWithTheServer",
	})
	t.Run("AClientThatIsCutOffSendsNoCall", func(t *testing.T) { cutOff(t, open) })
}

// witness answers the questions for the topology: one server has all hash slots.
type witness struct {
	t   *testing.T
	url string
	cut atomic.Bool // the client does not reach it
}

func (w *witness) dial(context.Context, string) (net.Conn, error) {
	if w.cut.Load() {
		return nil, errors.New("cut off")
	}
	mine, theirs := net.Pipe()
	go w.serve(theirs)
	return mine, nil
}

func (w *witness) serve(c net.Conn) {
	defer c.Close()
	u, err := url.Parse(w.url)
	if err != nil {
		w.t.Error(err)
		return
	}
	for in := bufio.NewReader(c); ; {
		command, err := readCommand(in)
		if err != nil || w.cut.Load() {
			return
		}
		answer := "+OK\r\n"
		if command[0] == "CLUSTER" {
			says := strings.Repeat("1", 40) + " " + u.Host + "@1 myself,master - 0 0 1 connected 0-16383"
			answer = fmt.Sprintf("$%d\r\n%s\r\n", len(says), says)
		}
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// cutOff cuts a client off from the servers that name the master, while the master still answers it. It sends no call
// that may grant a lock for longer than [node.NamedFor].
func cutOff(t *testing.T, open OpenShard) {
	t.Parallel()
	server := redistest.Start(t)
	w := &witness{t: t, url: server.URL()}
	n := open(t, w.url, w.dial)
	t.Cleanup(n.Close)
	load(t, n, count)
	calls := []node.Call{call(count), {SHA: sha(count), Keys: []string{"k"}}}
	if r := batch(t, within(t, patience), n, calls...)[1]; r.Value != "2" {
		t.Fatal(r)
	}
	w.cut.Store(true)
	redistest.Eventually(t, patience, "a call to be refused", func() bool { return one(t, n, calls[0]).Err != nil })
	before := ran(t, server)
	for range 3 {
		for i, r := range batch(t, within(t, patience), n, calls[0], node.Call{SHA: sha(count)}) { // the last one has no key
			if !node.Unsent(r.Err) {
				t.Errorf("call %d: %+v", i, r)
			}
		}
	}
	if after := ran(t, server); after != before {
		t.Errorf("the server ran %s calls, and %s before", after, before)
	}
	w.cut.Store(false)
	works(t, n, calls[0])
}
