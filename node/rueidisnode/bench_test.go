package rueidisnode_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/nodetest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// BenchmarkBatch compares the driver with the library alone: SET NX PX in the same pipelines. Each call is one Redis
// command.
func BenchmarkBatch(b *testing.B) {
	url := nodetest.Server(b)
	n, err := rueidisnode.New(url)
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	bare, err := rueidis.NewClient(rueidis.MustParseURL(url))
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	const script = `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])`
	sha, err := bare.Do(b.Context(), bare.B().ScriptLoad().Script(script).Build()).ToString()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1, 16, 256} {
		calls := make([]node.Call, size)
		for i := range calls {
			calls[i] = node.Call{SHA: sha, Keys: []string{"k" + strconv.Itoa(i)}, Args: []string{"owner", "10000"}}
		}
		perCall := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/call")
			b.ReportMetric(1, "commands/call")
		}
		b.Run(fmt.Sprintf("EVALSHA/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := n.EvalSHA(b.Context(), calls); r[size-1].Err != nil {
					b.Fatal(r[size-1].Err)
				}
			}
			perCall(b)
		})
		b.Run(fmt.Sprintf("SET/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				commands := make([]rueidis.Completed, size)
				for i := range commands {
					commands[i] = bare.B().Set().Key(calls[i].Keys[0]).Value("owner").Nx().PxMilliseconds(10000).Build()
				}
				if r := bare.DoMulti(b.Context(), commands...); r[size-1].NonRedisError() != nil {
					b.Fatal(r[size-1].Error())
				}
			}
			perCall(b)
		})
	}
}
