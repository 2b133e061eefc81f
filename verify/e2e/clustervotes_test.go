package e2e

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A view that asks for the votes again and again asks for some hash slots each time. It still sees a loss of memory.
func TestALookAtAClusterThatVotesIsCheap(t *testing.T) {
	t.Parallel()
	w := &ward{t: t, cluster: redistest.StartCluster(t, 2, 0)}
	c := clusterClient(t, w.cluster, func(cfg *holdfast.Config) { cfg.NodeTimeout = 5 * time.Second })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := w.emptied(ctx, c); err != nil {
		t.Fatal(err)
	}
	evals := func() (n int) {
		for _, s := range w.cluster.Servers() {
			_, text, _ := strings.Cut(s.MustDo(t, "INFO", "commandstats").(string), "cmdstat_eval:calls=")
			calls, _, _ := strings.Cut(text, ",")
			one, err := strconv.Atoi(calls)
			if err != nil {
				t.Fatal(err)
			}
			n += one
		}
		return n
	}
	before := evals()
	for range 3 {
		for _, n := range admin.Nodes(ctx, c) {
			if !n.Votes() {
				t.Error(n)
			}
		}
	}
	if n := evals() - before; n > 60 { // a sweep of all hash slots is 64 calls
		t.Errorf("three looks took %d calls", n)
	}
	for _, s := range w.cluster.Servers() {
		s.MustDo(t, "FLUSHALL")
	}
	for _, n := range admin.Nodes(ctx, c) {
		if n.Votes() {
			t.Errorf("without its memory: %s", n)
		}
	}
}
