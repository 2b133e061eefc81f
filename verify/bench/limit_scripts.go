package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const (
	limitTTL    = 10 * time.Second // Holdfast's defaults, which the scripts contain
	limitWindow = 250 * time.Millisecond
)

// scripts is the limit (b) of the report: the scripts of Holdfast, which [admit] has loaded.
type scripts struct {
	nodes []*nodescript.Scripts

	mu     sync.Mutex
	stamps stamps
}

func openScripts(urls []string) (locker, error) {
	set := nodescript.Config{N: len(urls), MaxTTL: limitTTL, Window: limitWindow, Cluster: cluster}
	s := &scripts{}
	for _, u := range urls {
		c := redis.NewClient(&redis.Options{Addr: address(u)})
		info, err := c.Info(context.Background(), "server").Result()
		if err != nil {
			return nil, err
		}
		made := nodescript.NewScripts(set, field(info, "run_id"))
		known, err := c.ScriptExists(context.Background(), made.SHA(nodescript.Acquire), made.SHA(nodescript.Release)).Result()
		_ = c.Close()
		if err != nil || !known[0] || !known[1] {
			return nil, fmt.Errorf("%s does not know the scripts (%v, %w): does the harness make them for another configuration than the client?", u, known, err)
		}
		s.nodes = append(s.nodes, made)
	}
	wires, err := dialWires(urls)
	return &limit{wires: wires, speak: s}, err
}

func (s *scripts) draw(ln *lane) {
	s.mu.Lock()
	stamp := s.stamps.draw()
	s.mu.Unlock()
	ln.owner = fmt.Sprintf("limit/4711~k3J9xQ7a~%020d", stamp) // as long as an owner of Holdfast
	lock := nodescript.Lock{Name: ln.name}
	ln.acquire = nodescript.AcquireCall(lock, ln.owner, stamp, limitTTL)
	ln.release = nodescript.ReleaseCall(lock, ln.owner, stamp)
}

func (s *scripts) acquire(out []byte, ln *lane, node int) []byte {
	return s.call(out, &ln.acquire, node)
}
func (s *scripts) release(out []byte, ln *lane, node int) []byte {
	return s.call(out, &ln.release, node)
}

func (s *scripts) call(out []byte, c *nodescript.Call, node int) []byte {
	out = append(strconv.AppendInt(append(out, '*'), int64(3+len(c.Keys)+len(c.Args)), 10), "\r\n$7\r\nEVALSHA\r\n"...)
	out = bulk(out, s.nodes[node].SHA(c.Op))
	out = bulk(out, strconv.Itoa(len(c.Keys)))
	for _, k := range c.Keys {
		out = bulk(out, k)
	}
	for _, a := range c.Args {
		out = bulk(out, a)
	}
	return out
}

func (s *scripts) granted(reply []byte) bool  { return string(reply) == "G0" }
func (s *scripts) released(reply []byte) bool { return string(reply) == "D" }
