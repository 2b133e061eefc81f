package redistest

import (
	"bytes"
	"net"
	"strconv"
	"time"
)

// This file lets a proxy treat single commands: it changes one request and does not touch the others.

// Treatment says how to treat one command. The zero value forwards it.
type Treatment struct {
	// Delay holds back the command, and all later commands of its connection. Commands of other connections overtake
	// it. The command arrives even if its client closes the connection.
	Delay time.Duration

	// Overtaken holds back the command until this many commands on other connections have passed, but no longer than
	// Delay.
	Overtaken int

	// Copies are sent this much later than the command, each on its own connection. The proxy drops the answers to
	// them.
	Copies []time.Duration
}

// Treat makes f decide about each command from now on. A nil f ends this. f must not call the proxy. Connections that
// do not use RESP pass without a treatment.
func (p *Proxy) Treat(f func(command []string) Treatment) { p.set(func() { p.treat = f }) }

// enqueue puts bytes from a connection into a pipe's queue. The caller holds mu.
func (p *Proxy) enqueue(q *pipe, data []byte) {
	due := time.Now().Add(p.delay[q.direction])
	if q.direction == replies {
		q.queue = append(q.queue, chunk{data: data, due: due})
		return
	}
	q.cut.rest = append(q.cut.rest, data...)
	if p.treat == nil {
		if whole, n := q.cut.all(); len(whole) > 0 {
			q.queue = append(q.queue, chunk{data: whole, due: due, commands: n})
		}
		return
	}
	for {
		one, words := q.cut.next()
		if len(one) == 0 {
			return
		}
		t := p.treat(words)
		c := chunk{data: one, due: due.Add(t.Delay), commands: 1}
		if t.Overtaken > 0 {
			c.overtaken, c.after = true, p.passed+int64(t.Overtaken)
			time.AfterFunc(time.Until(c.due), func() { p.set(func() {}) })
		}
		q.queue = append(q.queue, c)
		for _, d := range t.Copies {
			p.wg.Go(func() { p.copy(one, due.Add(d)) })
		}
	}
}

// copy sends a command once more. It drops the answer.
func (p *Proxy) copy(command []byte, due time.Time) {
	if !p.sleepUntil(due) {
		return
	}
	p.mu.Lock()
	target, swallowed := p.target, p.swallow[requests]
	p.mu.Unlock()
	if swallowed {
		return
	}
	c, err := net.DialTimeout("tcp", target, time.Second)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // a frozen server may accept the command later
	if _, err := c.Write(command); err == nil {
		_, _ = c.Read(make([]byte, 512))
	}
}

// wait holds back a chunk until it is due. It returns false if the link broke.
func (p *Proxy) wait(q *pipe, c chunk) bool {
	if !c.overtaken {
		return p.sleepUntil(c.due)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.passed < c.after && time.Now().Before(c.due) && !q.ended && !p.closed {
		p.change.Wait()
	}
	return !q.ended && !p.closed
}

// cutter splits a stream of requests into commands.
type cutter struct {
	rest []byte
	raw  bool // the stream is not RESP, or not in the form of a client: it is never split again
}

// all returns every complete command, and their number.
func (c *cutter) all() (whole []byte, n int64) {
	for {
		one, _ := c.next()
		if len(one) == 0 {
			return whole, n
		}
		whole, n = append(whole, one...), n+1
	}
}

// next returns a command and its words. It returns nothing if the command is incomplete.
func (c *cutter) next() (one []byte, words []string) {
	size := 0
	if !c.raw {
		size, words, c.raw = command(c.rest)
	}
	if c.raw {
		size, words = len(c.rest), nil
	}
	one, c.rest = c.rest[:size:size], c.rest[size:]
	return one, words
}

// command returns the size of the first command in b, 0 if the command is incomplete.
func command(b []byte) (size int, words []string, malformed bool) {
	line := func(kind byte) (n int, ok bool) {
		if size >= len(b) {
			return 0, false
		}
		if b[size] != kind {
			malformed = true
			return 0, false
		}
		end := bytes.Index(b[size:], []byte("\r\n"))
		if end < 0 {
			malformed = len(b)-size > 32
			return 0, false
		}
		n, err := strconv.Atoi(string(b[size+1 : size+end]))
		malformed = err != nil || n < 0
		size += end + 2
		return n, !malformed
	}
	count, ok := line('*')
	for i := 0; ok && i < count; i++ {
		var n int
		if n, ok = line('$'); !ok {
			break
		}
		if ok = size+n+2 <= len(b); ok {
			words = append(words, string(b[size:size+n]))
			size += n + 2
		}
	}
	if !ok {
		return 0, nil, malformed
	}
	return size, words, false
}
