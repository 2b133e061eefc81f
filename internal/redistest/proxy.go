package redistest

import (
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Proxy stands between clients and a server and breaks the network between them.
// Its settings may be changed at any time, also under traffic. With none set it
// forwards everything, each direction in order.
type Proxy struct {
	t      testing.TB
	addr   string
	target string
	done   chan struct{} // closed at the end of the test
	wg     sync.WaitGroup

	mu       sync.Mutex
	change   *sync.Cond // a setting, a queue or the end of a link changed
	listener net.Listener
	links    map[*link]struct{}
	delay    [2]time.Duration // by direction
	swallow  [2]bool
	treat    func(command []string) Treatment
	passed   int64 // commands forwarded
	closed   bool
}

// NewProxy listens on a loopback port and forwards to targetAddr (host:port), which
// is dialled anew for each connection. It ends with the test.
func NewProxy(t testing.TB, targetAddr string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: targetAddr, done: make(chan struct{}), links: map[*link]struct{}{}}
	p.change = sync.NewCond(&p.mu)
	// Not a port of the kernel's choice, for the reason given at freePort: Cut gives
	// the port up and must get it back.
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

// URL is redis://127.0.0.1:port.
func (p *Proxy) URL() string { return "redis://" + p.addr }

// Addr is 127.0.0.1:port.
func (p *Proxy) Addr() string { return p.addr }

// DelayRequests holds each request back for d, DelayReplies each reply. It is a
// delay and not a rate: what follows is not slowed down further.
func (p *Proxy) DelayRequests(d time.Duration) { p.set(func() { p.delay[requests] = d }) }

// DelayReplies is described at [Proxy.DelayRequests].
func (p *Proxy) DelayReplies(d time.Duration) { p.set(func() { p.delay[replies] = d }) }

// BlackHole makes the network swallow everything in both directions. Connections
// stay open and new ones are accepted. When it ends, connections that lost bytes
// break, because a stream with a hole in it is none.
func (p *Proxy) BlackHole(on bool) { p.swallowing(on, on) }

// DropReplies is [Proxy.BlackHole] for replies only: requests arrive and are
// executed, their senders never hear of it.
func (p *Proxy) DropReplies(on bool) { p.swallowing(false, on) }

// DropRequests is [Proxy.BlackHole] for requests only: nothing new arrives, but what was
// asked before is still answered, and what was published is still heard.
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

// Cut breaks all connections and refuses new ones until Cut(false).
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
			err = p.listen(p.addr)
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// Break ends the connections there are, as a router that lost its table does. New
// ones pass.
func (p *Proxy) Break() {
	p.set(func() {
		for l := range p.links {
			l.end()
		}
	})
}

// Redirect makes connections lead to another server from now on, as those of a name
// do that resolves anew. The ones there are break.
func (p *Proxy) Redirect(targetAddr string) {
	p.set(func() {
		p.target = targetAddr
		for l := range p.links {
			l.end()
		}
	})
}

// StallExisting holds back the requests of all connections there are now, also when
// their clients close them, until [Proxy.Release] delivers them. Connections made
// later pass: so a command arrives late, after others that were sent later.
func (p *Proxy) StallExisting() {
	p.set(func() {
		for l := range p.links {
			l.stalled = true
		}
	})
}

// Release delivers what [Proxy.StallExisting] held back.
func (p *Proxy) Release() {
	p.set(func() {
		for l := range p.links {
			l.stalled = false
		}
	})
}

// Connections is how many clients are connected, or were and left something stalled.
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

// listen needs mu, or a proxy nobody else knows yet.
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
