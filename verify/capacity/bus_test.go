//go:build linux

package main

import (
	"math"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// busCost returns the CPU of a server that sends a message as for a hand-off, without a lock, and that of the others.
func busCost(t *testing.T, masters int, idle float64) (out, in float64) {
	t.Helper()
	const n = 2000
	servers := redistest.StartCluster(t, masters, 0).Servers()
	c := redis.NewClient(&redis.Options{Addr: servers[0].Addr(), DisableIdentity: true})
	defer c.Close()
	out, in = math.Inf(1), math.Inf(1)
	for range shortRepeats {
		before := tallies(t, servers)
		for range n {
			if err := c.Publish(t.Context(), "holdfast:inbox:x", make([]byte, 120)).Err(); err != nil {
				t.Fatal(err)
			}
		}
		others := 0.0
		for i, after := range tallies(t, servers) {
			d, seconds := after.since(before[i])
			if cpu := (d.CPU - seconds*idle) / n; i == 0 {
				out = min(out, cpu)
			} else {
				others += cpu / float64(masters-1)
			}
		}
		in = min(in, others)
	}
	for _, s := range servers {
		s.Kill()
	}
	return out, in
}

// measureBus measures the messages between servers that a hand-off sends.
func measureBus(t *testing.T, k *Constants) {
	alone, _ := busCost(t, 1, k.ServerIdle)
	out, in := busCost(t, 8, k.ServerIdle)
	k.ServerBusOut, k.ServerBusIn = (out-alone)/7, in
}
