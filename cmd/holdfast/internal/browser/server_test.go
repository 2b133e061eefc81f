package browser

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/ui"
)

// serve serves the page with readings of a function, and returns its address.
func serve(t *testing.T, every time.Duration, read func(context.Context) *sample.State) string {
	t.Helper()
	s := &sample.Sampler{Read: read, Every: every}
	server := httptest.NewServer(ui.Handler(ui.Config{Sampler: s, Local: true}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.Wait()
	})
	return server.URL
}

// reading returns a reading with some names.
func reading(names ...sample.Name) *sample.State {
	at := time.Now().UnixMilli()
	s := &sample.State{At: at, Quorum: 1, Total: len(names), NamesAt: at, JobsAt: at, Jobs: []sample.Job{}, Elections: []sample.Election{}, Problems: []sample.Problem{}}
	s.SetNames(slices.Clone(names))
	if len(names) <= 1000 {
		s.Names = append([]sample.Name{}, names...) // in this order
	}
	s.Nodes = []sample.Node{{Addr: "redis://127.0.0.1:6379/0", Votes: true, Reachable: true, Reason: "votes", Said: "votes", Version: "Redis 7.0.15"}}
	s.Point = sample.Point{At: at, Known: true, Names: len(names), Voting: 1}
	for _, n := range names {
		s.Point.Holders += len(n.Holders)
		s.Point.Waiters += n.Waiters
	}
	return s
}

// lock returns a lock.
func lock(name, holder string, waiters int) sample.Name {
	now := time.Now()
	return sample.Name{
		Key: name, Name: name, Slot: -1, Kind: "lock", Known: true, Waiters: waiters,
		Holders: []sample.Holder{{Label: holder, Since: now.Add(-time.Minute).UnixMilli(), Until: now.Add(8 * time.Second).UnixMilli(), Fence: now.UnixMicro()}},
	}
}
