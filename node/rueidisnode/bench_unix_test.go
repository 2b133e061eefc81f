//go:build unix

package rueidisnode_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/nodetest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// BenchmarkCallers measures the driver as the fan-out uses it: a few callers, each with its own deadline and with the
// parent context that Close cancels. cpu-ns/op counts only this process, not the server.
func BenchmarkCallers(b *testing.B) {
	n, err := rueidisnode.New(nodetest.Server(b))
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	const script = `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`
	if r := n.Eval(b.Context(), `return 'x'`, node.Call{}, script); r.Err != nil {
		b.Fatal(r.Err)
	}
	for _, c := range []struct{ callers, size int }{{1, 1}, {2, 32}} {
		b.Run(fmt.Sprintf("%d×%d", c.callers, c.size), func(b *testing.B) {
			calls := make([]node.Call, c.size)
			for i := range calls {
				calls[i] = node.Call{SHA: digest(script), Keys: []string{"k" + strconv.Itoa(i)}, Args: []string{"owner", "10000"}}
			}
			b.ReportAllocs()
			b.ResetTimer()
			before := cpu(b)
			var wg sync.WaitGroup
			for i := range c.callers {
				wg.Go(func() {
					for range b.N/c.callers + min(1, max(0, b.N%c.callers-i)) {
						ctx, cancel := context.WithTimeout(b.Context(), time.Second)
						r := n.EvalSHA(ctx, calls)
						cancel()
						if err := r[c.size-1].Err; err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(c.size), "commands/op")
		})
	}
}

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}
