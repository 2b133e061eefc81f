package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// newClusterWard returns a cluster that votes. A test may have started it.
func newClusterWard(t testing.TB, c *redistest.Cluster) *ward {
	t.Helper()
	w := &ward{t: t, cluster: c, user: "owner"}
	w.grants([]string{"~*", "&*", "+@all"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := w.client(false)
	if err := w.emptied(ctx, client); err != nil {
		t.Fatal(err)
	}
	client.Close()
	for _, s := range c.Servers() {
		s.MustDo(t, "SCRIPT", "FLUSH")
	}
	w.user = wardUser
	return w
}

// emptied makes the cluster lose almost all of its memory, and waits until it votes for clients again.
func (w *ward) emptied(ctx context.Context, clients ...*holdfast.Client) error {
	for _, s := range w.cluster.Shards() {
		s.Master.MustDo(w.t, "FLUSHALL")
		// One slot has an old guard, which an admission deletes.
		s.Master.MustDo(w.t, "SET", nodescript.SlotGuard(s.Slots[0]), "old")
	}
	for _, c := range clients {
		var all []verdict.Answer
		if err := await(ctx, "the votes", func() bool {
			all = admin.Nodes(ctx, c)
			return !slices.ContainsFunc(all, func(n verdict.Answer) bool { return !n.Votes() })
		}); err != nil {
			return fmt.Errorf("%w: %v", err, all)
		}
	}
	return nil
}

// move moves the hash slot of a name to another shard.
func (w *ward) move(ctx context.Context, name string) error {
	slot := redistest.Slot(name)
	for _, shard := range w.cluster.Shards() {
		if _, has := slices.BinarySearch(shard.Slots, slot); !has {
			return w.cluster.MoveSlot(ctx, slot, shard.Master)
		}
	}
	return errors.New("there is no other shard")
}

// The rights of a role are enough for its work on a Redis Cluster, and without any of them the servers refuse a part of
// the work. The locker takes a lock whose hash slot moves.
func TestTheRightsOfARoleOnACluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 2, 0, redistest.NodeTimeout(20*time.Second)) // a busy server has not failed
	for _, role := range eachRole {
		t.Run(role.String(), func(t *testing.T) {
			grants := rights.User{Roles: role, Prefixes: []string{prefix}, Sharded: true}.Grants()
			t.Run("all", func(t *testing.T) {
				if err := newClusterWard(t, c).tries(t.Context(), role, grants); err != nil {
					t.Error(err)
				}
			})
			for i, right := range grants {
				if testing.Short() && i%23 != int(role) && right != "+cluster|nodes" {
					continue
				}
				t.Run(right, func(t *testing.T) {
					w := newClusterWard(t, c)
					if err := w.tries(t.Context(), role, slices.Delete(slices.Clone(grants), i, i+1)); err == nil {
						t.Errorf("the work of the role %s needs no %s", role, right)
					}
				})
			}
		})
	}
}
