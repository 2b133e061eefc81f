package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// cluster is the Cluster setting of all clients of Holdfast. The type scripts needs it, too, because the text of the
// scripts contains it.
const cluster = "bench"

type holdfastLocker struct{ client *holdfast.Client }

func openHoldfast(private bool, open func(urls []string) ([]node.Node, error)) func([]string) (locker, error) {
	return func(urls []string) (locker, error) {
		nodes, err := open(urls)
		if err != nil {
			return nil, err
		}
		client, err := holdfast.New(holdfast.Config{Nodes: nodes, Cluster: cluster, Private: private})
		if err != nil {
			return nil, err
		}
		l := holdfastLocker{client}
		if err := l.ready(); err != nil {
			l.close()
			return nil, err
		}
		return l, nil
	}
}

// ready waits until every node votes.
func (l holdfastLocker) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		all := true
		for _, n := range admin.Nodes(ctx, l.client) {
			all = all && n.Votes()
		}
		switch {
		case all:
			return nil
		case ctx.Err() != nil:
			return errors.New("not all nodes vote after 20s")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// lease implements fenced.
func (l holdfastLocker) lease(ctx context.Context, name string) (lease, error) {
	return l.client.Mutex(name).Lock(ctx)
}

func (l holdfastLocker) lock(ctx context.Context, name string) (func() error, error) {
	lease, err := l.client.Mutex(name).Lock(ctx)
	if err != nil {
		return nil, err
	}
	return func() error { return lease.Unlock(context.Background()) }, nil
}

func (l holdfastLocker) close() { _ = l.client.Close() }

func rueidisNodes(urls []string) ([]node.Node, error) { return rueidisnode.Open(urls...) }

func goredisNodes(urls []string) ([]node.Node, error) {
	var clients []redis.UniversalClient
	for _, u := range urls {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: address(u)}))
	}
	return goredisnode.Open(clients...) // the nodes have their own connections
}

func address(url string) string { return strings.TrimPrefix(url, "redis://") }

// admit makes the nodes vote and loads the scripts, before the first measurement.
func admit(urls []string) error {
	nodes, err := rueidisNodes(urls)
	if err != nil {
		return err
	}
	// The client does not log, because its log would only report the half second that a voucher takes.
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, Cluster: cluster, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	if err := (holdfastLocker{client}).ready(); err != nil {
		return fmt.Errorf("admit the nodes: %w", err)
	}
	return nil
}
