package driver

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/holdfast-go/holdfast/node"
)

// These are the limits of a server's answer. Client libraries allocate the announced length before they read the data,
// and call themselves for each nested array. So a hostile server, or a server that is not Redis, could end the process
// with eight bytes. The scripts of Holdfast answer with less than 100 KiB. The limits are higher, because any client of
// the server may publish larger messages, and the answer to HELLO contains nested lists.
const (
	mostBytes    = 8 << 20 // bytes of one string
	mostLine     = 64 << 10
	mostElements = 16 << 10 // elements of one answer, in all its arrays together
	mostNested   = 8
)

// Bound returns a connection whose Read fails in two cases: the server sends bytes that are not the Redis protocol
// (RESP2 or RESP3), or it announces more than the limits allow.
func Bound(c net.Conn) net.Conn {
	b := &bound{Conn: c}
	if p, ok := c.(*proof); ok {
		c = p.Conn
	}
	if s, ok := c.(syscall.Conn); ok {
		return &boundSocket{b, s} // go-redis needs syscall.Conn to check idle sockets
	}
	return b
}

type bound struct {
	net.Conn
	answers answers
}

// Ledger is a bound connection on which each answer must belong to one command. Its Read fails if the server sends an
// answer or a push message that no command asked for. A library would take such an answer for the answer to the next
// command, or end the process.
type Ledger struct {
	bound
	written answers
	asked   atomic.Int64 // atomic, because at the end rueidis writes in one goroutine and reads in another
	open    bool         // during the handshake: Write counts the commands
	pushes  bool
}

// NewLedger returns the ledger of a new connection. During the handshake the ledger itself counts the commands that
// are written. After the handshake the driver announces its commands with Ask.
func NewLedger(c net.Conn) *Ledger { return &Ledger{bound: bound{Conn: c}, open: true} }

// Ask announces that the driver will write n commands. All earlier commands must have their answers.
func (l *Ledger) Ask(n int) {
	l.open, l.answers.n, l.answers.pushes = false, 0, 0
	l.asked.Store(int64(n))
}

// Subscribe switches the check off, because the messages of a subscription come without a command.
func (l *Ledger) Subscribe() { l.pushes = true }

// Write writes commands.
func (l *Ledger) Write(p []byte) (int, error) {
	if l.open {
		if err := l.written.read(p); err != nil {
			return 0, err
		}
		l.asked.Store(int64(l.written.n))
	}
	return l.Conn.Write(p)
}

// Read reads answers. It fails at an answer that no command asked for.
func (l *Ledger) Read(p []byte) (int, error) {
	n, err := l.bound.Read(p)
	if !l.pushes && (int64(l.answers.n) > l.asked.Load() || l.answers.pushes > 0) {
		l.answers.err = notRedis("what nobody asked for")
		return 0, l.answers.err
	}
	return n, err
}

// boundSocket is a bound connection without TLS.
type boundSocket struct {
	*bound
	syscall.Conn
}

// NetConn returns the connection beneath b, as [tls.Conn] does.
func (b *bound) NetConn() net.Conn {
	if p, ok := b.Conn.(*proof); ok {
		return p.Conn
	}
	return b.Conn
}

// Identity returns the identity of the server: see [Site.Prove].
func (b *bound) Identity() (node.Identity, error) {
	if p, ok := b.Conn.(*proof); ok {
		return p.Identity()
	}
	return node.Identity{}, nil
}

// Leave ends the watch of a connection that was closed below.
func (b *bound) Leave() {
	if p, ok := b.Conn.(*proof); ok {
		p.leave()
	}
}

// Read reads from the connection, and fails at the first byte that breaks the protocol or a limit.
func (b *bound) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if bad := b.answers.read(p[:n]); bad != nil {
		return 0, bad
	}
	return n, err
}

// answers parses the answers of a server. The answers may come in pieces of any size.
type answers struct {
	kind byte   // type of the current element; 0: a new element begins
	line []byte // the part of the element's line that was read so far
	body int    // bytes of a string that are still missing, with its end of line; 0: none
	left [mostNested]int
	deep int // number of open arrays; left has the number of missing elements of each
	all  int // elements of this answer so far
	err  error

	n, pushes int // complete answers and complete pushes so far
	push      bool
}

// read parses the next piece. After an error it always returns that error, because nobody can tell what the later
// bytes mean.
func (a *answers) read(p []byte) error {
	_, err := a.some(p, math.MaxInt)
	return err
}

// open reports whether an answer has begun and is not complete.
func (a *answers) open() bool { return a.kind != 0 || a.body > 0 || a.deep > 0 }

// some parses p until there were n complete answers, and returns the rest of p.
func (a *answers) some(p []byte, n int) ([]byte, error) {
	for len(p) > 0 && a.err == nil && a.n < n {
		switch {
		case a.body > 0:
			p = a.skip(p)
		case a.kind == 0:
			a.kind, a.line, p = p[0], a.line[:0], p[1:]
			if a.deep == 0 {
				a.push = a.kind == '>'
			}
		default:
			end := bytes.IndexByte(p, '\n')
			if end < 0 {
				end = len(p) - 1
			}
			a.line, p = append(a.line, p[:end+1]...), p[end+1:]
			if len(a.line) > mostLine {
				a.err = fmt.Errorf("the server sent a line of more than %d bytes", mostLine)
			} else if a.line[len(a.line)-1] == '\n' {
				a.err = a.end()
			}
		}
	}
	return p, a.err
}

// skip skips bytes of a string, and checks its end of line.
func (a *answers) skip(p []byte) []byte {
	n := min(a.body, len(p))
	for i := max(0, a.body-2); i < n; i++ { // check the last two bytes of the string
		if p[i] != "\r\n"[2-(a.body-i)] {
			a.err = notRedis("a string that does not end where it should")
			return nil
		}
	}
	if a.body -= n; a.body == 0 {
		a.whole()
	}
	return p[n:]
}

// end handles a complete line.
func (a *answers) end() error {
	text, ok := bytes.CutSuffix(a.line, []byte("\r\n"))
	if !ok {
		return notRedis(fmt.Sprintf("%.40q", string(a.kind)+string(a.line)))
	}
	switch a.kind {
	case '+', '-', ',', '(':
	case ':':
		ok = number(text)
	case '_':
		ok = len(text) == 0
	case '#':
		ok = string(text) == "t" || string(text) == "f"
	case '$', '!', '=':
		if a.kind == '$' && string(text) == "-1" {
			break
		}
		n, err := length(text, mostBytes)
		if err != nil {
			return err
		}
		a.body = n + 2
		return nil
	case '*', '~', '>', '%':
		if a.kind == '*' && string(text) == "-1" {
			break
		}
		n, err := length(text, mostElements)
		if err != nil {
			return err
		}
		if a.kind == '%' {
			n *= 2
		}
		if a.all += n; a.all > mostElements {
			return fmt.Errorf("the server announced an answer of more than %d elements", mostElements)
		}
		if a.deep == mostNested {
			return fmt.Errorf("the server nested its answer more than %d deep", mostNested)
		}
		if n > 0 {
			a.left[a.deep] = n
			a.deep++
			a.kind = 0
			return nil
		}
	default:
		ok = false
	}
	if !ok {
		return notRedis(fmt.Sprintf("%.40q", string(a.kind)+string(a.line)))
	}
	a.whole()
	return nil
}

// whole counts a complete element, and each array that is complete with it.
func (a *answers) whole() {
	a.kind = 0
	for a.deep > 0 {
		if a.left[a.deep-1]--; a.left[a.deep-1] > 0 {
			return
		}
		a.deep--
	}
	a.all = 0
	if a.push {
		a.pushes++
	} else {
		a.n++
	}
}

func length(text []byte, most int) (int, error) {
	n, err := strconv.ParseUint(string(text), 10, 63)
	switch {
	case err != nil:
		return 0, notRedis(fmt.Sprintf("the length %.40q", text))
	case n > uint64(most):
		return 0, fmt.Errorf("the server announced an answer of length %d; at most %d is read", n, most)
	}
	return int(n), nil
}

func number(text []byte) bool {
	_, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && text[0] != '+'
}

func notRedis(what string) error {
	return fmt.Errorf("the server sent %s; is this Redis or Valkey?", what)
}
