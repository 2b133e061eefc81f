package driver

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
)

// These are the limits of a server's answer. Client libraries allocate the announced length before they read, and call
// themselves for nested answers. So a hostile server, or a server that is not Redis, could end the process with eight
// bytes. Scripts of Holdfast answer with less than 100 KiB. But any client of the server may publish larger messages,
// and the answer to HELLO contains nested modules.
const (
	mostBytes    = 8 << 20 // the limit of one string
	mostLine     = 64 << 10
	mostElements = 16 << 10 // the limit of one answer, in all its arrays together
	mostNested   = 8
)

// Bound returns a connection whose Read fails in two cases: the server sends bytes that are not the Redis protocol
// (RESP2 or RESP3), or it announces more than the limits allow.
func Bound(c net.Conn) net.Conn {
	b := &bound{Conn: c}
	if s, ok := c.(syscall.Conn); ok {
		return &boundSocket{b, s} // go-redis checks idle sockets, so it needs syscall.Conn
	}
	return b
}

type bound struct {
	net.Conn
	answers answers
}

// Ledger is a bound connection on which each answer belongs to one command. Its Read fails at an answer or a push
// without a request. A library would treat such an answer as the answer to the next command, or would end the process.
type Ledger struct {
	bound
	written answers
	asked   atomic.Int64 // atomic, because rueidis says goodbye with one writing and one reading goroutine
	open    bool         // Write counts the commands
	pushes  bool
}

// NewLedger returns the ledger of a new connection. During the handshake the ledger counts the commands that are
// written. After the handshake the driver announces commands with Ask.
func NewLedger(c net.Conn) *Ledger { return &Ledger{bound: bound{Conn: c}, open: true} }

// Ask announces n commands. It also says that all earlier commands were answered.
func (l *Ledger) Ask(n int) {
	l.open, l.answers.n, l.answers.pushes = false, 0, 0
	l.asked.Store(int64(n))
}

// Subscribe ends the check for requests, because messages of a subscription come without a request.
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

// Read reads answers. It fails at an answer without a request.
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
func (b *bound) NetConn() net.Conn { return b.Conn }

// Read reads from the connection, and fails at the first byte that breaks the protocol or a limit.
func (b *bound) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if bad := b.answers.read(p[:n]); bad != nil {
		return 0, bad
	}
	return n, err
}

// answers follows the answers of a server. It accepts them in pieces of any size.
type answers struct {
	kind byte   // the kind of the current element; 0: an element begins
	line []byte // the part of the element's line that has been read
	body int    // the number of missing bytes of a string, with its end of line; 0: none
	left [mostNested]int
	deep int // the number of open arrays; left contains the missing elements of each
	all  int // the number of elements of this answer so far
	err  error

	n, pushes int // the number of complete answers and pushes so far
	push      bool
}

// read takes the next piece. After an error it always returns that error, because the meaning of later bytes is
// unknown.
func (a *answers) read(p []byte) error {
	for len(p) > 0 && a.err == nil {
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
	return a.err
}

// skip consumes bytes of a string.
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

// whole notes that an element is complete. It also notes each array that the element completes.
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
