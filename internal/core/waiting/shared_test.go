package waiting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// TestReadersOfSeveralClientsShareALock runs the machinery with the kind of readers: two clients read, a third one
// writes after them, and a reader that came later comes after the writer.
func TestReadersOfSeveralClientsShareALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, models := voting(0, 0, 0)
		var clients []*Locker
		for range 4 {
			var nodes []node.Node
			for _, m := range models {
				nodes = append(nodes, m)
			}
			l := met(t, locker(t, set, time.Second, nodes...))
			l.Inbox.open(t.Context())
			l.Fan.AskVotes(t.Context())
			clients = append(clients, l)
		}
		lock := nodescript.Lock{Name: "x"}
		shared, exclusive := nodescript.NewShared(lock), nodescript.NewExclusive(lock)
		take := func(l *Locker, k nodescript.Kind) Grant {
			g, r := l.Wait(t.Context(), k, 10*time.Second, func(*Refusal) {})
			if r != nil {
				t.Errorf("refused: %+v", r)
			}
			return g
		}
		give := func(l *Locker, g Grant) {
			g.End()
			l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock, g.Owner, g.Token)}, nil)
			synctest.Wait()
		}
		later := func(l *Locker, k nodescript.Kind) chan Grant {
			c := make(chan Grant, 1)
			go func() { c <- take(l, k) }()
			synctest.Wait()
			return c
		}

		a, b := take(clients[0], shared), take(clients[1], shared)
		if !nodescript.IsReader(a.Owner) || !nodescript.IsReader(b.Owner) {
			t.Fatalf("%q and %q are no readers", a.Owner, b.Owner)
		}
		writer := later(clients[2], exclusive)
		time.Sleep(time.Millisecond)
		reader := later(clients[3], shared)
		give(clients[0], a)
		if len(writer)+len(reader) != 0 {
			t.Fatal("somebody got the lock beside a reader and before the writer")
		}
		began := time.Now()
		give(clients[1], b)
		w := <-writer
		if waited := time.Since(began); waited > 50*time.Millisecond {
			t.Errorf("the writer heard of the last reader's release after %v", waited)
		}
		if w.Token <= max(a.Token, b.Token) || len(reader) != 0 {
			t.Errorf("the writer has token %d after %d and %d; readers in: %d", w.Token, a.Token, b.Token, len(reader))
		}
		if g, r := clients[0].Try(t.Context(), shared, 10*time.Second); r == nil {
			t.Errorf("a reader got %+v beside the writer", g)
		}
		give(clients[2], w)
		if r := <-reader; r.Token <= w.Token {
			t.Errorf("a reader has token %d after the writer's %d", r.Token, w.Token)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if g, r := clients[1].Wait(ctx, shared, 10*time.Second, func(*Refusal) {}); r != nil || g.Token == 0 {
			t.Errorf("no second reader: %+v", r)
		}
	})
}
