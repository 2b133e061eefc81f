package interop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// 4 Go processes and 4 Java processes increment an unprotected counter 10,000 times. Some of both are killed. Every
// increment is there, in order.
func TestACrowdWithKillsLosesNoIncrement(t *testing.T) {
	s := redistest.Start(t)
	crowd(t, single, []*redistest.Server{s}, 4, 10_000, 3)
}

// The same with the layout of RedissonRedLock on three servers.
func TestACrowdOnThreeServersLosesNoIncrement(t *testing.T) {
	crowd(t, red, redistest.StartN(t, 3), 2, 2_000, 1)
}

func crowd(t *testing.T, m mode, servers []*redistest.Server, each, target, kills int) {
	const ttl = 2 * time.Second
	counter := func() int {
		v, _ := servers[0].MustDo(t, "LLEN", "counter:log").(int64)
		return int(v)
	}
	spawn := func(i int) worker {
		me := fmt.Sprintf("%d", i)
		if i%2 == 0 {
			return goWorker(t, servers, "crowd", "counter", target, "go"+me, ttl)
		}
		return javaWorker(t, m, servers, "crowd", "counter", target, "java"+me, ttl)
	}
	workers := make([]worker, 2*each)
	for _, first := range []int{1, 0} { // Java first: it takes longer to begin
		for i := first; i < len(workers); i += 2 {
			workers[i] = spawn(i)
		}
	}
	for k := range 2 * kills { // Go and Java in turns
		goal := target * (k + 1) / (2*kills + 1)
		redistest.Eventually(t, 5*time.Minute, fmt.Sprintf("%d increments", goal), func() bool { return counter() >= goal })
		i := k % len(workers)
		workers[i].kill()
		workers[i] = spawn(i)
	}
	for i, w := range workers {
		select {
		case <-w.done:
		case <-time.After(5 * time.Minute):
			t.Fatalf("worker %d has not ended; the counter has %d", i, counter())
		}
	}
	log := servers[0].MustDo(t, "LRANGE", "counter:log", 0, -1).([]any)
	by, err := judge(log)
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != target || servers[0].MustDo(t, "GET", "counter") != fmt.Sprint(target) {
		t.Errorf("%d increments, the counter is %v, want %d", len(log), servers[0].MustDo(t, "GET", "counter"), target)
	}
	t.Logf("increments by side: %v; %d kills of each side", by, kills)
	if by["go"] == 0 || by["java"] == 0 {
		t.Error("one side never had the lock")
	}
	servers[0].MustDo(t, "DEL", "counter", "counter:log")
	for _, w := range workers {
		w.kill()
	}
	empty(t, servers...)
}

// judge returns the number of increments of each side. The error says which one was lost.
func judge(log []any) (by map[string]int, err error) {
	by = map[string]int{}
	for i, entry := range log {
		value, who, _ := strings.Cut(entry.(string), " ")
		if value != fmt.Sprint(i+1) {
			return nil, fmt.Errorf("increment %d wrote %s: two holders, or a lost increment", i+1, value)
		}
		by[strings.TrimRight(who, "0123456789")]++
	}
	return by, nil
}

// The control of the crowds: workers that lock different names lose increments, and the judge notices.
func TestWithoutOneLockIncrementsAreLost(t *testing.T) {
	servers := []*redistest.Server{redistest.Start(t)}
	var workers []worker
	for i := range 4 {
		workers = append(workers, goWorker(t, servers, fmt.Sprintf("name%d", i), "counter", 2_000, "go", 2*time.Second))
	}
	for _, w := range workers {
		select {
		case <-w.done:
		case <-time.After(within):
			t.Fatal("a worker has not ended")
		}
	}
	if _, err := judge(servers[0].MustDo(t, "LRANGE", "counter:log", 0, -1).([]any)); err == nil {
		t.Error("no increment was lost without a common lock: the counter shows nothing")
	}
}
