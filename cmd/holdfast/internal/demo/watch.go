package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/verdict"
)

// watch updates the nodes in the picture, and finds nodes that vote too early.
func (d *demo) watch(ctx context.Context) {
	for ctx.Err() == nil {
		d.look(ctx)
		if clock.Rest(ctx, 100*time.Millisecond) != nil {
			return
		}
	}
}

// look asks every node for its state.
func (d *demo) look(ctx context.Context) []verdict.Answer {
	list := admin.Nodes(ctx, d.client)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, n := range list {
		switch {
		case d.nodes[i] == nil:
		case n.Votes():
			d.voted(i)
			d.state.node(i, "votes")
		case n.VotesIn > 0:
			d.state.node(i, fmt.Sprintf("votes in %.1fs", n.VotesIn.Seconds()))
		default:
			d.state.node(i, "starts")
		}
	}
	return list
}

// watchFor notes that node i must not vote before an instant.
func (d *demo) watchFor(i int, notBefore time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notBefore[i] = notBefore
}

// voted notes that node i votes. The caller holds d.mu.
func (d *demo) voted(i int) {
	not := d.notBefore[i]
	if not.IsZero() {
		return
	}
	d.notBefore[i] = time.Time{}
	d.recovered = true
	if time.Now().Before(not) {
		d.early = append(d.early, fmt.Sprintf("node %d", i+1))
		return
	}
	d.state.say("node %d votes again", i+1)
}

// await waits until these nodes vote.
func (d *demo) await(ctx context.Context, which ...int) error {
	for deadline := time.Now().Add(patience); ; {
		list := d.look(ctx)
		voting := 0
		for _, i := range which {
			if list[i].Votes() {
				voting++
			}
		}
		if voting == len(which) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d nodes vote after %s", voting, len(which), patience)
		}
		if err := clock.Rest(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}
