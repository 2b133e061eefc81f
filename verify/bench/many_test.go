package main

import (
	"sync"
	"testing"
)

// BenchmarkMany measures 64 simultaneous locks and unlocks on three nodes, whose calls share pipelines. It reports the
// time of a cycle, and its CPU time in the client. A busy machine changes the CPU time less.
func BenchmarkMany(b *testing.B) {
	for _, name := range []string{holdfastRueidis, holdfastGoredis} {
		b.Run(name, func(b *testing.B) {
			var urls []string
			for range 3 {
				s, err := startServer()
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(s.stop)
				if err := s.fresh(b.Context()); err != nil {
					b.Fatal(err)
				}
				urls = append(urls, s.url())
			}
			if err := admit(urls); err != nil {
				b.Fatal(err)
			}
			sys, err := systemNamed(name)
			if err != nil {
				b.Fatal(err)
			}
			l, err := sys.open(urls)
			if err != nil {
				b.Fatal(err)
			}
			defer l.close()
			before := ownCPU()
			for b.Loop() {
				var wait sync.WaitGroup
				for i := range 64 {
					wait.Go(func() {
						unlock, err := l.lock(b.Context(), names[i])
						if err == nil {
							err = unlock()
						}
						if err != nil {
							b.Error(err)
						}
					})
				}
				wait.Wait()
			}
			cycles := float64(64 * b.N)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/cycles, "ns/cycle")
			b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/cycles, "client-ns/cycle")
		})
	}
}
