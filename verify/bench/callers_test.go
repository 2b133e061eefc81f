package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkCallers measures lock and unlock by callers that work all the time, each with its own lock on one node.
// client-ns/cycle is the processor time of this process. The server is another process. Each benchmark should have a
// process for itself.
//
//	go test -run '^$' -bench 'Callers/holdfast-rueidis/64$' -benchmem
func BenchmarkCallers(b *testing.B) {
	for _, name := range []string{holdfastRueidis, holdfastGoredis} {
		for _, callers := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, "/", "-"), callers), func(b *testing.B) { benchCallers(b, name, callers) })
		}
	}
}

func benchCallers(b *testing.B, name string, callers int) {
	sys, err := systemNamed(name)
	if err != nil {
		b.Fatal(err)
	}
	_, urls := oneNode(b)
	l, err := sys.open(urls)
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	work := func(cycles int64) {
		var wait sync.WaitGroup
		var begun atomic.Int64
		for i := range callers {
			wait.Go(func() {
				for own := fmt.Sprint("bench/callers/", i); begun.Add(1) <= cycles; {
					unlock, err := l.lock(b.Context(), own)
					if err == nil {
						err = unlock()
					}
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	work(int64(20 * callers)) // makes the connections
	b.ReportAllocs()
	b.ResetTimer()
	before := ownCPU()
	work(int64(b.N))
	b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/float64(b.N), "client-ns/cycle")
}
