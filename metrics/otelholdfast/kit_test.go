package otelholdfast

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// open opens a client on servers.
func open(t *testing.T, servers []*redistest.Server, observers ...holdfast.Observer) *holdfast.Client {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://:secret@"+s.Addr())
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: nodes, MaxTTL: 2 * time.Second, Window: 200 * time.Millisecond, NodeTimeout: time.Second, Cluster: "test",
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Observers: observers,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// start starts n servers that vote.
func start(t *testing.T, n int) []*redistest.Server {
	t.Helper()
	servers := redistest.StartN(t, n, redistest.Password("secret"))
	c := open(t, servers)
	admin.Trust(t.Context(), c)
	leasetest.AllVote(t, c, 15*time.Second)
	return servers
}

var lock = leasetest.Lock

func unlock(t *testing.T, l *holdfast.Lease) {
	t.Helper()
	if err := l.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}
