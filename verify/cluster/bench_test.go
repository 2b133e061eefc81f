//go:build linux

package cluster

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// BenchmarkShards measures cycles of Lock and Unlock of free names by 64 goroutines of one process, on clusters of 1, 3
// and 6 masters. With servers and client on the same processors, more masters only take work from each other: the ideal
// is the rate of one. Compare with benchstat.
func BenchmarkShards(b *testing.B) {
	for _, masters := range []int{1, 3, 6} {
		b.Run(fmt.Sprint("shards=", masters), func(b *testing.B) {
			c := redistest.StartCluster(b, masters, 0)
			for _, name := range []string{"holdfast", "redislock"} {
				s, err := systems[name].open(role{Addrs: c.Addrs(), TTL: 2 * time.Second})
				if err != nil {
					b.Fatal(err)
				}
				for i := range 3000 { // every hash slot that the names use votes
					redistest.Eventually(b, time.Minute, "a cycle of every name", func() bool {
						_, _, unlock, err := s.Lock(b.Context(), strconv.Itoa(i))
						return err == nil && unlock(b.Context()) == nil
					})
				}
				b.Run("system="+name, func(b *testing.B) {
					var next atomic.Int64
					b.SetParallelism(32)
					b.RunParallel(func(p *testing.PB) {
						for p.Next() {
							_, _, unlock, err := s.Lock(b.Context(), strconv.FormatInt(next.Add(1)%3000, 10))
							if err == nil {
								err = unlock(b.Context())
							}
							if err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
				s.Close()
			}
		})
	}
}
