package driver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// Site makes sure that the connections of a node lead to one server. An address may lead to several: behind a load
// balancer, or after it moved. Each connection asks for the run id of its server, in the same write as its handshake.
// When a new connection leads to another server, Site closes the connections to the former one. It is safe for
// concurrent use.
type Site struct {
	// Named says that Sentinel names the server of each connection. It may name a former master again.
	Named bool

	start sync.Once
	clock clock.Clock // see Now

	mu       sync.Mutex
	run      string
	since    clock.Instant      // the last dial that led to this server began then
	ctx      context.Context    // ends when a connection leads to another server
	end      context.CancelFunc // ends ctx
	former   []string           // the run ids of the servers before, the latest last
	dials    int                // see node.Identity
	moved    int                // see node.Identity
	returned clock.Instant      // when the address last led back to a former server; 0: never
}

// Now reads the clock of the site, for the beginning of a dial. It counts the time for which the host is suspended: an
// address may move meanwhile.
func (s *Site) Now() clock.Instant {
	s.start.Do(func() { s.clock = clock.Steady() })
	return s.clock()
}

// mostFormer is the number of former servers that a Site remembers.
const mostFormer = 16

// met notes that a connection leads to a server. Its dial began at the instant began. The context ends when a later
// dial leads to another server. An error means that this has happened already.
//
// A server that restarted has another run id, too. It differs from a second server in two ways: it started after the
// former run was last met, and the former run id never comes back.
func (s *Site) met(id node.Identity, began clock.Instant) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case id.Run == s.run:
		s.dials++
		s.since = max(s.since, began)
		return s.ctx, nil
	case s.run != "" && began <= s.since:
		return nil, node.ErrElsewhere
	case s.run != "":
		s.end()
		back := !s.Named && slices.Contains(s.former, id.Run)
		if back {
			s.returned = max(s.Now(), 1)
		}
		// It ran already while the former server did. A server counts whole seconds, and may count one too many.
		if back || s.Now().Add(time.Second-id.Up) < s.since {
			s.moved++
		}
		s.former = append(slices.DeleteFunc(s.former, func(run string) bool { return run == s.run }), s.run)
		s.former = s.former[max(0, len(s.former)-mostFormer):]
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.run, s.since, s.dials = id.Run, began, 1
	return s.ctx, nil
}

// History returns an identity with the changes of the server so far.
func (s *Site) History(id node.Identity) node.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id.Dials, id.Moved = s.dials, s.moved; s.returned != 0 {
		id.Returned = max(s.Now().Sub(s.returned), 1)
	}
	return id
}

// Ask asks the server behind a new connection for its identity, and closes the connection. Its dial began at the
// instant began. auth is the login, nothing without a password. Ask does without a client library, which would cost
// more than the connection itself. After any error the library must try, because it handles every answer.
func (s *Site) Ask(ctx context.Context, c net.Conn, began clock.Instant, auth ...string) (id node.Identity, err error) {
	answers, err := ask(ctx, c, auth, whoAreYou)
	if err != nil {
		return id, err
	}
	if id = serverOf(answers[0]); id.Run == "" {
		return id, errors.New("the server does not tell its run id")
	}
	_, err = s.met(id, began)
	return id, err
}

// ask sends questions in one write, reads their answers, and closes the connection. The first refusal is an error.
func ask(ctx context.Context, c net.Conn, auth []string, questions ...[]byte) (answers []string, err error) {
	defer func() { _ = c.Close() }() // an error only means that it was closed before
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if len(auth) > 0 {
		questions = append([][]byte{Command(append([]string{"AUTH"}, auth...)...)}, questions...)
	}
	if _, err = c.Write(slices.Concat(questions...)); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(Bound(c), 2048)
	for range questions {
		kind, text, _, err := readElement(in)
		switch {
		case err != nil:
			return nil, err
		case kind == '-':
			return nil, errors.New(text)
		}
		answers = append(answers, text)
	}
	if len(auth) > 0 {
		answers = answers[1:]
	}
	return answers, nil
}

// serverOf reads the answer to INFO. Its Run is "" if the server does not tell it.
func serverOf(info string) node.Identity {
	up, _ := strconv.ParseInt(InfoField(info, "uptime_in_seconds"), 10, 32)
	return node.Identity{Run: InfoField(info, "run_id"), Up: time.Duration(up) * time.Second}
}

// Met returns the identity that the last dial proved, with the changes of the server so far.
func (s *Site) Met() node.Identity {
	s.mu.Lock()
	id := node.Identity{Run: s.run}
	if s.run != "" {
		id.Age = max(s.Now().Sub(s.since), 1)
	}
	s.mu.Unlock()
	return s.History(id)
}

// whoAreYou asks a server for its run id. HELLO and CLIENT do not tell it.
var whoAreYou = Command("INFO", "server")

// mostAsked is the number of writes of a handshake to which the question is added. A server may refuse the first
// question, because AUTH comes only in the second write.
const mostAsked = 3

// proof is the part of a new connection that proves where it leads. It adds the question to the writes of the
// handshake, and takes the answer out of what the client library reads.
type proof struct {
	net.Conn
	site   *Site
	began  clock.Instant // when the dial began
	hangUp func()        // closes the connection

	// Client libraries do a handshake in one goroutine. But after a handshake that failed, rueidis reads and writes in
	// two. A goroutine holds talk while it reads the answer to a question, and not during other reads and all writes.
	talk          sync.Mutex // guards the fields up to err
	reading       int        // the number of reads for which no goroutine holds talk
	written, read answers    // what the library wrote, and what the server sent
	asked         int        // the number of questions so far
	pending       bool       // a question has no answer yet
	done          bool       // nothing remains to ask
	answer        []byte     // the answer to the last question
	held          []byte     // what was read for the library
	identity      node.Identity
	err           error

	mu   sync.Mutex  // guards stop and left. Close must not wait for talk.
	stop func() bool // ends the watch of the site; nil: there is none
	left bool        // the connection is closed, so it needs no watch
}

// Prove returns a connection that proves where it leads. Its dial began at the instant began. hangUp closes it; nil
// means c.Close.
func (s *Site) Prove(c net.Conn, began clock.Instant, hangUp func()) net.Conn {
	p := &proof{Conn: c, site: s, began: began, hangUp: hangUp}
	if hangUp == nil {
		p.hangUp = func() { _ = c.Close() } // an error only means that it was closed before
	}
	return p
}

// Identity reads the rest of the answer, and returns the identity of the server, without its history. Its Run is "" if
// the server does not tell it.
func (p *proof) Identity() (node.Identity, error) {
	p.talk.Lock()
	defer p.talk.Unlock()
	p.finish()
	return p.identity, p.err
}

// Write adds the question to a write of the handshake. Later writes wait until the answer is there.
func (p *proof) Write(b []byte) (int, error) {
	asks, err := p.asks(b)
	if err != nil {
		return 0, err
	}
	if !asks {
		return p.Conn.Write(b)
	}
	n, err := p.Conn.Write(append(b[:len(b):len(b)], whoAreYou...))
	return min(n, len(b)), err
}

// asks reports whether the question goes with the write b. It first reads the answer to the question before.
func (p *proof) asks(b []byte) (bool, error) {
	p.talk.Lock()
	defer p.talk.Unlock()
	if p.finish(); p.err != nil {
		return false, p.err
	}
	if p.done {
		return false, nil
	}
	if p.written.read(b) != nil || p.written.open() || p.asked == mostAsked || p.reading > 0 {
		p.done = true
		return false, nil
	}
	p.asked++
	p.pending = true
	return true, nil
}

// Read returns what the server sent, without the answer to the question.
func (p *proof) Read(b []byte) (int, error) {
	if n, err := p.readHeld(b); n > 0 || err != nil {
		return n, err
	}
	n, err := p.Conn.Read(b)
	p.talk.Lock()
	defer p.talk.Unlock()
	p.reading--
	if !p.done {
		_ = p.read.read(b[:n]) // the bound finds the same error
	}
	return n, err
}

// readHeld returns what was read for the library. It returns 0 and no error if a read is next.
func (p *proof) readHeld(b []byte) (int, error) {
	p.talk.Lock()
	defer p.talk.Unlock()
	for p.pending && len(p.held) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		p.more()
	}
	if len(p.held) > 0 {
		n := copy(b, p.held)
		p.held = p.held[n:]
		return n, nil
	}
	if p.err == nil {
		p.reading++
	}
	return 0, p.err
}

// Close closes the connection.
func (p *proof) Close() error {
	p.leave()
	return p.Conn.Close()
}

// leave ends the watch of the site.
func (p *proof) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left = true; p.stop != nil {
		p.stop()
	}
}

// watch makes the connection end with ctx.
func (p *proof) watch(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.left {
		p.stop = context.AfterFunc(ctx, p.hangUp)
	}
}

// finish reads until the question has its answer. The caller holds talk.
func (p *proof) finish() {
	for p.pending && p.err == nil {
		p.more()
	}
}

// more reads once from the server while the question has no answer. The caller holds talk.
func (p *proof) more() {
	var b [2048]byte
	n, err := p.Conn.Read(b[:])
	all := b[:n]
	for len(all) > 0 && p.pending {
		mine := p.written.n + p.asked - 1 // the number of answers before the one to the question
		until := mine
		if p.read.n == mine {
			until++
		}
		rest, bad := p.read.some(all, until)
		if took := all[:len(all)-len(rest)]; until > mine {
			p.answer = append(p.answer, took...)
		} else {
			p.held = append(p.held, took...)
		}
		if bad != nil {
			p.err = bad
			return
		}
		if all = rest; p.read.n > mine {
			p.answered()
		}
	}
	if p.held = append(p.held, all...); p.pending && err != nil {
		p.err = err
	} else if !p.done {
		_ = p.read.read(all)
	}
}

// answered handles the complete answer to the question.
func (p *proof) answered() {
	text := strings.ReplaceAll(string(p.answer), "txt:", "") // the prefix of a verbatim string in RESP3
	p.pending, p.answer = false, nil
	if p.done = !strings.HasPrefix(text, "-NOAUTH "); !p.done {
		return // the next write asks again, after an AUTH
	}
	id := serverOf(text)
	if id.Run == "" {
		return
	}
	p.identity = id
	ctx, err := p.site.met(p.identity, p.began)
	if err != nil {
		p.err = err
		return
	}
	p.watch(ctx)
}
