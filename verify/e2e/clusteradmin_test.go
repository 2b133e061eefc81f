package e2e

import (
	"errors"
	"fmt"
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
		if err := look(clusterClient(t, c, nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	client := clusterClient(t, c, nil)
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
