package redistest

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Proxy forwards traffic between clients and a server, and breaks the network between them. A test may change its
// settings at any time, even under traffic. By default it forwards all traffic and keeps the order in each direction.
type Proxy struct {
	t      testing.TB
	addr   string
	target string
	done   chan struct{} // this channel closes at the end of the test
	wg     sync.WaitGroup

	mu       sync.Mutex
	change   *sync.Cond // signals a change of a setting or a queue, or the end of a link
	listener net.Listener
	others   []string // further targets: see Balance
	dials    int      // the number of connections while there are others
	opened   int      // the number of connections so far
	moves    int      // the number of calls of Redirect
	links    map[*link]struct{}
	delay    [2]time.Duration // by direction
	swallow  [2]bool
	treat    func(command []string) Treatment
	passed   int64 // the number of commands forwarded
	lost     int64 // the number of pieces of data dropped
	closed   bool
}

// NewProxy listens on a loopback port and forwards to targetAddr (host:port). It dials a new connection to targetAddr
// for each client connection. The proxy ends with the test.
func NewProxy(t testing.TB, targetAddr string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: targetAddr, done: make(chan struct{}), links: map[*link]struct{}{}}
	p.change = sync.NewCond(&p.mu)
	// The kernel must not choose the port: Cut gives up the port and must get it back. See freePort.
	for tries := 0; ; tries++ {
		p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort()))
		err := p.listen(p.addr)
		if err == nil {
			break
		}
		if tries == 10 {
			t.Fatal(err)
		}
	}
	t.Cleanup(p.close)
	return p
}

// URL returns redis://127.0.0.1:port.
func (p *Proxy) URL() string { return "redis://" + p.addr }

// Addr returns 127.0.0.1:port.
func (p *Proxy) Addr() string { return p.addr }

// DelayRequests delays each request by d. DelayReplies delays each reply. This is a delay and not a rate: it does not
// add up over later traffic.
func (p *Proxy) DelayRequests(d time.Duration) { p.set(func() { p.delay[requests] = d }) }

// DelayReplies delays each reply: see [Proxy.DelayRequests].
func (p *Proxy) DelayReplies(d time.Duration) { p.set(func() { p.delay[replies] = d }) }

// BlackHole makes the network swallow all data in both directions. Connections stay open, and new connections are
// accepted. When the black hole ends, connections that lost bytes break, because a stream with a gap is useless.
func (p *Proxy) BlackHole(on bool) { p.swallowing(on, on) }

// DropReplies does the same as [Proxy.BlackHole] for replies only. The server executes requests, and the clients get no
// answer.
func (p *Proxy) DropReplies(on bool) { p.swallowing(false, on) }

// Lost returns the number of pieces of data that the proxy has dropped so far.
func (p *Proxy) Lost() (n int64) {
	p.set(func() { n = p.lost })
	return n
}

// DropRequests does the same as [Proxy.BlackHole] for requests only. No new request arrives. Answers to earlier
// requests still arrive, and so do published messages.
func (p *Proxy) DropRequests(on bool) { p.swallowing(on, false) }

func (p *Proxy) swallowing(request, reply bool) {
	p.set(func() {
		p.swallow = [2]bool{requests: request, replies: reply}
		if request || reply {
			return
		}
		for l := range p.links {
			if l.lost {
				l.end()
			}
		}
	})
}

// Cut breaks all connections and refuses new connections until Cut(false).
func (p *Proxy) Cut(on bool) {
	p.t.Helper()
	var err error
	p.set(func() {
		switch {
		case on && p.listener != nil:
			_ = p.listener.Close()
			p.listener = nil
			for l := range p.links {
				l.end()
			}
		case !on && p.listener == nil:
			// A process that starts just now has a copy of the closed listener, until it executes its program.
			for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				if err = p.listen(p.addr); !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
					break
				}
			}
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Break ends the present connections, as a router that lost its table does. New connections pass.
func (p *Proxy) Break() {
	p.set(func() {
		for l := range p.links {
			l.end()
		}
	})
}

// Redirect makes new connections lead to another server, as for a host name that resolves to a new address. The present
// connections break.
func (p *Proxy) Redirect(targetAddr string) {
	p.set(func() {
		p.target, p.others = targetAddr, nil
		p.moves++
		for l := range p.links {
			l.end()
		}
	})
}

// Move makes new connections lead to another server, as for a virtual IP that moves. The present connections stay with
// their server.
func (p *Proxy) Move(targetAddr string) { p.set(func() { p.target, p.others = targetAddr, nil }) }

// Balance makes new connections lead to the server and to others in turns, as behind a load balancer.
func (p *Proxy) Balance(others ...string) { p.set(func() { p.others = others }) }

// aim returns the target of a new connection. The caller holds mu.
func (p *Proxy) aim() string {
	if len(p.others) == 0 {
		return p.target
	}
	p.dials++
	return append([]string{p.target}, p.others...)[p.dials%(1+len(p.others))]
}

// Dialled returns the number of connections that clients have opened so far.
func (p *Proxy) Dialled() (n int) {
	p.set(func() { n = p.opened })
	return n
}

// StallExisting holds back the requests of all present connections until [Proxy.Release] delivers them, even if their
// clients close the connections. Later connections pass. So a command can arrive after commands that were sent later.
func (p *Proxy) StallExisting() {
	p.set(func() {
		for l := range p.links {
			l.stalled = true
		}
	})
}

// Release delivers the requests that [Proxy.StallExisting] held back.
func (p *Proxy) Release() {
	p.set(func() {
		for l := range p.links {
			l.stalled = false
		}
	})
}

// Connections returns the number of connected clients, including closed connections with stalled requests.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

func (p *Proxy) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.change.Broadcast()
}

// listen opens the listener. The caller holds mu, or no other goroutine knows the proxy yet.
func (p *Proxy) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.wg.Go(func() { p.serve(l) })
	return nil
}

func (p *Proxy) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.connect(c, l) })
	}
}

func (p *Proxy) close() {
	p.set(func() {
		p.closed = true
		close(p.done)
		if p.listener != nil {
			_ = p.listener.Close()
		}
		for l := range p.links {
			l.end()
		}
	})
	p.wg.Wait()
}
