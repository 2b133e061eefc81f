//go:build linux

package cluster

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"golang.org/x/sys/unix"
)

// BenchmarkShards measures cycles of Lock and Unlock of free names by 64 goroutines of one process, on clusters of 1, 3
// and 6 masters. The client has the first processor, and all servers share the last one. So more masters only take work
// from each other: the ideal is the rate of one. Compare with benchstat.
func BenchmarkShards(b *testing.B) {
	last := runtime.NumCPU() - 1
	pin(b, os.Getpid(), 0)
	runtime.GOMAXPROCS(1)
	for _, masters := range []int{1, 3, 6} {
		b.Run(fmt.Sprint("shards=", masters), func(b *testing.B) {
			c := redistest.StartCluster(b, masters, 0)
			for _, server := range c.Servers() {
				pin(b, pidOf(b, server), last)
			}
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
					b.SetParallelism(64)
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

// pin makes all threads of a process run on one processor only.
func pin(b *testing.B, pid, processor int) {
	b.Helper()
	var only unix.CPUSet
	only.Set(processor)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range threads {
		id, _ := strconv.Atoi(t.Name())
		if err := unix.SchedSetaffinity(id, &only); err != nil {
			b.Fatal(err)
		}
	}
}

func pidOf(b *testing.B, s *redistest.Server) (pid int) {
	_, after, _ := strings.Cut(fmt.Sprint(s.MustDo(b, "INFO", "server")), "process_id:")
	if _, err := fmt.Sscan(after, &pid); err != nil {
		b.Fatal(err)
	}
	return pid
}
