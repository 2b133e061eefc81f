//go:build linux

package cluster

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// holdfasts is this project's client. A lease states its deadline, and ends in time.
type holdfasts struct {
	client *holdfast.Client
	role   role
}

func openHoldfast(r role) (system, error) {
	nodes, err := rueidisnode.Open("redis+cluster://" + strings.Join(r.Addrs, ","))
	if err != nil {
		return nil, err
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, TTL: r.TTL, MaxTTL: r.TTL})
	if err != nil {
		return nil, err
	}
	return holdfasts{client, r}, nil
}

func (s holdfasts) Lock(ctx context.Context, name string) (context.Context, int64, func(context.Context) error, error) {
	l, err := s.client.Mutex(name).Lock(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	return leased{l.Context(), l}, l.Fence(), l.Unlock, nil
}

func (s holdfasts) Close() { _ = s.client.Close() }

// leased is the context of a lease, with its deadline.
type leased struct {
	context.Context
	lease *holdfast.Lease
}

// Deadline returns the deadline of the lease.
func (l leased) Deadline() (time.Time, bool) { return l.lease.Deadline(), true }
