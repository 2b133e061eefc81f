package redistest

import (
	"net"
	"time"
)

// These are the directions of a link.
const (
	requests = iota
	replies
)

// link is one connection through a [Proxy]. Its two pipes end independently, so the requests of a client arrive even
// after the client closes the connection. The proxy's mu guards the fields of link.
type link struct {
	client, server net.Conn // server is nil if the link began in a black hole
	stalled        bool
	lost           bool // one of the two streams has a gap
	ended          bool
}

// end breaks both connections.
func (l *link) end() {
	l.ended = true
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
}

type chunk struct {
	data  []byte
	due   time.Time
	after int64 // if overtaken is true: the number of commands that pass before the chunk; it waits until due at the latest
	// overtaken means that the chunk waits for other commands: see [Treatment].
	overtaken bool
	commands  int64 // the number of commands in the chunk
}

// pipe is one direction of a link. A reader fills its queue at once, so the sender does not notice any delay. A writer
// empties the queue when it may.
type pipe struct {
	*link
	direction int
	queue     []chunk
	cut       cutter // splits requests into commands
	eof       bool
}

func (p *Proxy) connect(client net.Conn, via net.Listener) {
	l := &link{client: client}
	p.mu.Lock()
	l.lost = p.swallow[requests]
	p.opened++
	target, moves := p.aim(), p.moves
	p.mu.Unlock()
	if !l.lost {
		server, err := net.DialTimeout("tcp", target, patience)
		if err != nil {
			_ = client.Close()
			return
		}
		l.server = server
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// The connection was accepted, but the proxy was cut or redirected since then.
	if p.closed || p.listener != via || p.moves != moves {
		l.end()
		return
	}
	p.links[l] = struct{}{}
	p.wg.Go(func() { p.run(l) })
}

func (p *Proxy) run(l *link) {
	defer p.set(func() { l.end(); delete(p.links, l) })
	up := &pipe{link: l, direction: requests}
	p.wg.Go(func() { p.read(up, l.client) })
	if l.server == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		for !l.ended && !up.eof {
			p.change.Wait()
		}
		return
	}
	down := &pipe{link: l, direction: replies}
	p.wg.Go(func() { p.read(down, l.server) })
	p.wg.Go(func() {
		if p.write(up, l.server) {
			// The client closed the connection, and the server has all its requests. The server learns of the close
			// here, answers, and closes too.
			_ = l.server.(*net.TCPConn).CloseWrite()
		}
	})
	p.write(down, l.client)
}

func (p *Proxy) read(q *pipe, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.set(func() {
			if n > 0 {
				p.enqueue(q, append([]byte(nil), buf[:n]...))
			}
			q.eof = err != nil
		})
		if err != nil {
			return
		}
	}
}

// write forwards the queue until the end of its source. It reports whether it reached the end.
func (p *Proxy) write(q *pipe, to net.Conn) bool {
	for {
		c, ok := p.next(q)
		if !ok || !p.wait(q, c) || !p.stall(q) {
			return p.emptied(q)
		}
		if p.swallowed(q) {
			continue
		}
		// An error means that the receiver is gone. The loop still empties the queue, because a closed client must not
		// block a server.
		_, _ = to.Write(c.data)
		if c.commands > 0 {
			p.set(func() { p.passed += c.commands })
		}
	}
}

// next waits for a chunk to forward.
func (p *Proxy) next(q *pipe) (c chunk, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !q.ended {
		if len(q.queue) > 0 {
			c, q.queue = q.queue[0], q.queue[1:]
			return c, true
		}
		if q.eof && !p.swallow[q.direction] { // a black hole also swallows the close
			return c, false
		}
		p.change.Wait()
	}
	return c, false
}

// stall waits while the link is held back. It returns false if the link broke.
func (p *Proxy) stall(q *pipe) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for q.stalled && q.direction == requests && !q.ended {
		p.change.Wait()
	}
	return !q.ended
}

func (p *Proxy) swallowed(q *pipe) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.swallow[q.direction] {
		q.lost = true
		p.lost++
	}
	return p.swallow[q.direction]
}

func (p *Proxy) emptied(q *pipe) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return q.eof && !q.ended
}

func (p *Proxy) sleepUntil(due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}
