package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

func TestZCost(t *testing.T) {
	s := newSet(t, 1)
	b := s.bare(t, 0)
	cpu := func() float64 {
		info := s.servers[0].MustDo(t, "INFO", "cpu").(string)
		sum := 0.0
		for _, f := range []string{"used_cpu_user", "used_cpu_sys"} {
			v, _ := strconv.ParseFloat(regexp.MustCompile(f + `:([\d.]+)`).FindStringSubmatch(info)[1], 64)
			sum += v
		}
		return sum
	}
	x := nodescript.NewSlots("x", 100)
	run := func(what string, n int, make func(i int, now int64) []nodescript.Call, want ...nodescript.Verdict) {
		before := cpu()
		start := time.Now()
		for i := 0; i < n; i += 50 {
			now := b.now()
			var calls []node.Call
			var ops []nodescript.Op
			for j := range 50 {
				for _, c := range make(i+j, now+3*int64(j)) {
					calls = append(calls, node.Call{SHA: b.scripts.SHA(c.Op), Keys: c.Keys, Args: c.Args})
					ops = append(ops, c.Op)
				}
			}
			for j, r := range b.node.EvalSHA(t.Context(), calls) {
				if a := nodescript.ParseReply(ops[j], r); a.Verdict != want[j%len(want)] {
					t.Fatalf("%s %d: %+v", what, j, a)
				}
			}
		}
		t.Logf("%-40s %.1f µs CPU, %.1f µs", what, (cpu()-before)/float64(n)*1e6, float64(time.Since(start).Microseconds())/float64(n))
	}
	ttl := 2 * time.Second
	for range 2 {
		for _, l := range []nodescript.Lock{{Name: "m"}, {Name: "m", Private: true}} {
			run(fmt.Sprint("mutex private=", l.Private), 20000, func(i int, now int64) []nodescript.Call {
				o := "a/1~client~" + strconv.Itoa(i)
				return []nodescript.Call{nodescript.AcquireCall(l, o, now, ttl), nodescript.ReleaseCall(l, o, now)}
			}, nodescript.Granted, nodescript.Done)
		}
		run("slot", 20000, func(i int, now int64) []nodescript.Call {
			o := "a/1~client~" + strconv.Itoa(i)
			return []nodescript.Call{x.AcquireCall(i%100, -1, o, now, ttl, ""), x.ReleaseCall(i%100, o, now, true)}
		}, nodescript.Granted, nodescript.Done)
		run("slot after a taken one", 5000, func(i int, now int64) []nodescript.Call {
			o := "a/1~client~" + strconv.Itoa(i)
			return []nodescript.Call{x.AcquireCall(0, -1, o, now, ttl, ""), x.AcquireCall(0, -1, "b/2~client~1", now, ttl, ""), x.AcquireCall(1, -1, "b/2~client~1", now, ttl, ""), x.ReleaseCall(0, o, now, true), x.ReleaseCall(1, "b/2~client~1", now, true)}
		}, nodescript.Granted, nodescript.Held, nodescript.Granted, nodescript.Done, nodescript.Done)
		for _, k := range []int{100, 1024} {
			y := nodescript.NewSlots("y", k)
			now := b.now()
			for i := range k {
				b.says(nodescript.Granted, y.AcquireCall(i, -1, "a/1~client~"+strconv.Itoa(i), now, ttl, ""), "free")
			}
			run(fmt.Sprint("full ", k), 1000, func(i int, now int64) []nodescript.Call {
				return []nodescript.Call{y.AcquireCall(i%k, -1, "b/2~client~1", now, ttl, "")}
			}, nodescript.Held)
			time.Sleep(2 * time.Second)
		}
	}
}
