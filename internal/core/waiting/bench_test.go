package waiting

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// BenchmarkALockThatIsFree gets and releases a lock that no other client wants, on one and on three modelled nodes.
func BenchmarkALockThatIsFree(b *testing.B) {
	const ttl = 10 * time.Second
	for name, ahead := range map[string][]time.Duration{"one node": {0}, "three nodes": {0, 0, 0}} {
		b.Run(name, func(b *testing.B) {
			set, models := voting(ahead...)
			var nodes []node.Node
			for _, m := range models {
				nodes = append(nodes, m)
			}
			l := met(b, locker(b, set, time.Second, nodes...))
			var locks []*nodescript.Exclusive // several locks, because a release may still be under way
			for i := range 100 {
				locks = append(locks, nodescript.NewExclusive(nodescript.NewLock(fmt.Sprint(i), true, nodescript.NewTimes(ttl))))
			}
			told := func(*Refusal) {}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lock := locks[i%len(locks)]
				g, r := l.Wait(context.Background(), lock, ttl, told)
				if r != nil {
					b.Fatalf("%+v", r)
				}
				g.End()
				l.Fan.Send(&fanout.Message{Call: nodescript.ReleaseCall(lock.Lock(), g.Owner, g.Token)}, nil)
			}
		})
	}
}
