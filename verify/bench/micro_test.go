package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// These benchmarks measure one lock and unlock on one node, by one goroutine and by 64. The rival is the bare SET NX PX
// with compare-and-delete. They report time, allocations, and the commands that the server ran.
//
//	go test -bench . -benchmem
func BenchmarkCycle(b *testing.B) {
	for _, name := range []string{holdfastRueidis, holdfastGoredis, holdfastPrivate, redsyncRueidis, redsyncGoredis, bsmRedislock, rueidisLock} {
		b.Run(name, func(b *testing.B) {
			sys, err := systemNamed(name)
			if err != nil {
				b.Fatal(err)
			}
			s, urls := oneNode(b)
			l, err := sys.open(urls)
			if err != nil {
				b.Fatal(err)
			}
			defer l.close()
			cycle := func(b *testing.B, name string) {
				unlock, err := l.lock(b.Context(), name)
				if err == nil {
					err = unlock()
				}
				if err != nil {
					b.Error(err)
				}
			}
			b.Run("one", func(b *testing.B) {
				defer perCycle(b, s)()
				for b.Loop() {
					cycle(b, "bench/micro")
				}
			})
			b.Run("of64", func(b *testing.B) {
				defer perCycle(b, s)()
				for b.Loop() {
					var wait sync.WaitGroup
					for i := range 64 {
						wait.Go(func() { cycle(b, names[i]) })
					}
					wait.Wait()
				}
			})
		})
	}
	b.Run("bare", func(b *testing.B) {
		s, urls := oneNode(b)
		opened, err := openBare(urls)
		if err != nil {
			b.Fatal(err)
		}
		defer opened.close()
		l := opened.(*limit)
		conn, in := l.wires[0].conn, bufio.NewReader(l.wires[0].conn)
		var out []byte
		b.Run("one", func(b *testing.B) {
			defer perCycle(b, s)()
			for b.Loop() {
				out = bareCycles(b, l.speak, conn, in, out, names[:1])
			}
		})
		b.Run("of64", func(b *testing.B) {
			defer perCycle(b, s)()
			for b.Loop() {
				out = bareCycles(b, l.speak, conn, in, out, names)
			}
		})
	})
}

// names returns the names for 64 goroutines.
var names = func() (list []string) {
	for i := range 64 {
		list = append(list, fmt.Sprintf("bench/micro/%d", i))
	}
	return list
}()

// bareCycles locks all names in one pipeline and unlocks them in another.
func bareCycles(b *testing.B, s speech, conn net.Conn, in *bufio.Reader, out []byte, names []string) []byte {
	ln := &lane{owner: "00000000000000000000"}
	round := func(say func([]byte, *lane, int) []byte, yes func([]byte) bool) {
		out = out[:0]
		for _, ln.name = range names {
			out = say(out, ln, 0)
		}
		if _, err := conn.Write(out); err != nil {
			b.Fatal(err)
		}
		for range names {
			if r, err := readReply(in); err != nil || !yes(r) {
				b.Fatalf("%q, %v", r, err)
			}
		}
	}
	round(s.acquire, s.granted)
	round(s.release, s.released)
	return out
}

func oneNode(b *testing.B) (*server, []string) {
	b.Helper()
	s, err := startServer()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.stop)
	if err := s.fresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	urls := []string{s.url()}
	if err := admit(urls); err != nil {
		b.Fatal(err)
	}
	return s, urls
}

// perCycle returns a function that reports the commands that the server ran per cycle. It counts the commands from the
// network and those inside scripts.
func perCycle(b *testing.B, s *server) (end func()) {
	b.Helper()
	b.ReportAllocs()
	before, err := s.tally()
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		after, err := s.tally()
		if err != nil {
			b.Fatal(err)
		}
		cycles := float64(b.N)
		if strings.Contains(b.Name(), "of64") {
			cycles *= 64
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/cycles, "ns/cycle")
		}
		all, scripts := 0, 0
		for c, n := range after.Calls {
			n -= before.Calls[c]
			switch c {
			case "info":
				continue
			case "evalsha", "eval":
				scripts += n
			}
			all += n
		}
		b.ReportMetric(float64(all)/cycles, "commands/cycle")
		b.ReportMetric(float64(scripts)/cycles, "scripts/cycle")
		b.ReportMetric(float64((after.CPU-before.CPU).Nanoseconds())/cycles, "server-ns/cycle")
	}
}
