package main

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// readers is Holdfast with RLock in place of Lock. It takes part only in the workloads of the kind shared, beside
// Holdfast with Lock.
type readers struct{ holdfastLocker }

func openReaders(urls []string) (locker, error) {
	l, err := openHoldfast(false, rueidisNodes)(urls)
	if err != nil {
		return nil, err
	}
	return readers{l.(holdfastLocker)}, nil
}

func (r readers) lock(ctx context.Context, name string) (func() error, error) {
	lease, err := r.client.Mutex(name).RLock(ctx)
	if err != nil {
		return nil, err
	}
	return func() error { return lease.Unlock(context.Background()) }, nil
}

// shared returns the workloads that compare readers with writers: a lone caller on free names, and 64 goroutines of one
// process on one name.
func shared(p pace, nodes int) []workload {
	return []workload{{
		kind: "shared", name: fmt.Sprintf("shared-%dn-1g", nodes), title: "Free names, one caller, " + printable.Count(nodes, "node"),
		nodes: nodes, processes: 1, goroutines: 1, warm: p.warm, long: p.distinct,
	}, {
		kind: "shared", name: fmt.Sprintf("shared-%dn-64g", nodes), title: "One name, 64 goroutines of one process, " + printable.Count(nodes, "node"),
		nodes: nodes, processes: 1, goroutines: 64, hot: true, warm: p.warm, long: p.hot,
	}}
}

// ofReaders returns the demands on readers.
func ofReaders() (list []demand) {
	for _, n := range []string{"1n", "5n"} {
		list = append(list,
			demand{"shared-" + n + "-1g", "median cycle", holdfastReaders, holdfastRueidis, cycleP50, 1.15, true, ""},
			demand{"shared-" + n + "-64g", "cycles/s", holdfastReaders, holdfastRueidis, rate, 20, false, ""})
	}
	return list
}
