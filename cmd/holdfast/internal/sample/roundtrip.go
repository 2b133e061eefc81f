package sample

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// roundTrips returns the round trip to each node, by its address. For a shard of a Redis Cluster this is the address of the
// master: two drivers may have two names for a shard.
func (r *Reader) roundTrips(ctx context.Context) map[string]*float64 {
	to := map[string]node.Node{}
	for _, n := range r.Nodes {
		of, is := n.(node.Cluster)
		if !is {
			to[n.Addr()] = n
		} else if t, err := of.Look(ctx); err == nil {
			for _, s := range t.Shards {
				to[s.Master.Addr] = s.Node
			}
		}
	}
	trips := make(map[string]*float64, len(to))
	var wait sync.WaitGroup
	var mu sync.Mutex
	for addr, n := range to {
		wait.Go(func() {
			took := roundTrip(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			trips[addr] = took
		})
	}
	wait.Wait()
	return trips
}

// roundTrip returns the duration of a PING, nil if no answer came. An answer that is an error counts: a user may have
// no right to PING.
func roundTrip(ctx context.Context, n node.Node) *float64 {
	server, ok := n.(node.Commander)
	if !ok {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	began := time.Now()
	var said *node.Error
	if err := server.Do(bounded, "PING").Err; err != nil && !errors.As(err, &said) {
		return nil
	}
	took := ms(time.Since(began))
	return &took
}
