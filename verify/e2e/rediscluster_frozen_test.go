package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// lockEach locks all names, some of them at the same time.
func lockEach(t *testing.T, client *holdfast.Client, names []string) (leases []*holdfast.Lease) {
	leases = make([]*holdfast.Lease, len(names))
	var wait sync.WaitGroup
	const workers = 32
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(names); i += workers {
				leases[i] = lock(t, client, names[i], holdfast.WaitThroughOutages())
			}
		})
	}
	wait.Wait()
	return leases
}

// One shard hangs, and a client holds many more leases there than it renews at a time. It loses none on the other shards.
func TestAShardThatHangsCostsNoLeaseOfTheOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 0, redistest.Args("--cluster-require-full-coverage", "no"), redistest.NodeTimeout(time.Minute))
	client := c.client(func(cfg *holdfast.Config) {
		cfg.MaxTTL, cfg.TTL, cfg.NodeTimeout = 10*time.Second, 10*time.Second, time.Second
	})
	list := names("n", 20)
	var sick, well []string
	for i, name := range list {
		if i%3 > 0 {
			well = append(well, name)
			continue
		}
		for j := range 600 {
			sick = append(sick, fmt.Sprintf("{%s}%d", name, j))
		}
	}
	lost, live := lockEach(t, client, sick), lockEach(t, client, well)
	c.MasterOf(redistest.Slot(list[0])).Freeze()
	for _, l := range lost {
		ends(t, l)
	}
	renews(t, live...)
}
