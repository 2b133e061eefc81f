package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A client asks the shards of a Redis Cluster also if it never used a name before. It knows only the shards that have
// hash slots.
func TestTheFirstCallOfAnOperatorFindsAllShards(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, 0)
	looks := map[string]func(*holdfast.Client) error{
		"nodes": func(client *holdfast.Client) error {
			if all := admin.Nodes(t.Context(), client); len(all) != 3 {
				return fmt.Errorf("%d nodes: %v", len(all), all)
			}
			return nil
		},
		"list": func(client *holdfast.Client) error {
			for _, err := range admin.List(t.Context(), client, admin.ListOptions{AsStored: true}) {
				return err
			}
			return nil
		},
		"values": func(client *holdfast.Client) error {
			_, err := admin.NamesWithValue(t.Context(), client)
			return err
		},
		"now": func(client *holdfast.Client) error {
			_, err := client.Now(t.Context())
			return err
		},
		"stats": func(client *holdfast.Client) error {
			if n := len(client.Stats().Nodes); n != 0 {
				return fmt.Errorf("%d nodes before the first call", n)
			}
			_, err := client.Status(t.Context(), "x")
			if n := len(client.Stats().Nodes); n != 3 {
				return fmt.Errorf("%d nodes after the first call", n)
			}
			if errors.Is(err, holdfast.ErrUnavailable) { // nobody has asked for a vote yet
				return nil
			}
			return err
		},
	}
	for name, look := range looks {
		if err := look((&cluster{Cluster: c, t: t}).client()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	client := (&cluster{Cluster: c, t: t}).client()
	admin.Nodes(t.Context(), client)
	shard := c.Shards()[0]
	added := c.AddMaster()
	c.AwaitSettled()
	if err := c.MoveSlots(t.Context(), shard.Slots[:1], added); err != nil {
		t.Fatal(err)
	}
	nodes := func(n int) {
		t.Helper()
		redistest.Eventually(t, 20*time.Second, fmt.Sprintf("%d shards", n), func() bool {
			return len(admin.Nodes(t.Context(), client)) == n && len(client.Stats().Nodes) == n
		})
	}
	nodes(4)
	if err := c.MoveSlots(t.Context(), shard.Slots[:1], shard.Master); err != nil {
		t.Fatal(err)
	}
	nodes(3)
}

// The first lock on a new cluster waits for a quarantine. The quarantines of all other hash slots run at the same time,
// so a client that comes later does not wait again. Several clients that come at once begin each of them once.
func TestTheQuarantinesOfANewClusterRunAtTheSameTime(t *testing.T) {
	for name, clients := range map[string]int{"one client": 1, "several clients": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.StartCluster(t, 3, 0)
			var all sync.WaitGroup
			for i := range clients {
				client := (&cluster{Cluster: c, t: t}).client(func(cfg *holdfast.Config) { cfg.NodeTimeout = 2 * time.Second })
				all.Go(func() {
					if _, err := client.Mutex(fmt.Sprint("first", i), holdfast.WaitThroughOutages()).Lock(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, shard := range c.Shards() {
				what := fmt.Sprintf("all %d hash slots of %s to begin or end their quarantine", len(shard.Slots), shard.Master.Addr())
				redistest.Eventually(t, time.Minute, what, func() bool {
					return shard.Master.MustDo(t, "EVAL", begunText, 0) == int64(len(shard.Slots))
				})
			}
		})
	}
}

// begunText counts the hash slots whose quarantine has begun.
const begunText = `local n, at = 0, '0'
repeat
  local r = redis.call('SCAN', at, 'MATCH', 'holdfast:node{*}:admission', 'COUNT', 1000)
  for _, key in ipairs(r[2]) do
    if #redis.call('HGET', key, 'until') <= 16 and redis.call('HGET', key, 'until') < '9' then n = n + 1 end
  end
  at = r[1]
until at == '0'
return n`
