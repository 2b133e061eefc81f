package redistest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A client sends commands to a server, each on a connection of its own. It never sends a command twice. It has nothing
// that a Redis library would bring: modules whose tests use this package must not require one.
type client struct {
	network, addr, password string
	tls                     *tls.Config // nil: without TLS
}

// slow is the time after which a client gives up a command without a deadline.
const slow = 5 * time.Second

// do runs one command. Replies have the types of RESP2: string, int64, nil, []any. An error reply is an error with the
// server's words, also inside of an array.
func (c *client) do(ctx context.Context, args ...any) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	s, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.do(ctx, args...)
}

// text runs a command whose reply is a text. It is "" after an error.
func (c *client) text(ctx context.Context, args ...any) string {
	v, _ := c.do(ctx, args...)
	text, _ := v.(string)
	return text
}

// dial opens a connection, and authenticates.
func (c *client) dial(ctx context.Context) (*session, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, c.network, c.addr)
	if err != nil {
		return nil, err
	}
	if c.tls != nil {
		secure := c.tls.Clone()
		secure.ServerName, _, _ = net.SplitHostPort(c.addr)
		conn = tls.Client(conn, secure)
	}
	s := &session{Conn: conn, in: bufio.NewReader(conn)}
	if c.password != "" {
		if _, err := s.do(ctx, "AUTH", c.password); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

// session is one connection. After an error that no server has sent it is of no use.
type session struct {
	net.Conn
	in *bufio.Reader
}

func (s *session) do(ctx context.Context, args ...any) (any, error) {
	deadline, _ := ctx.Deadline() // none: the zero time
	if err := s.SetDeadline(deadline); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = s.SetDeadline(time.Unix(1, 0)) })()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		word, ok := a.([]byte)
		if !ok {
			word = fmt.Append(nil, a)
		}
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(s.Conn, b.String()); err != nil {
		return nil, err
	}
	return s.reply()
}

// reply reads one reply of RESP2.
func (s *session) reply() (any, error) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, line := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '+':
		return line, nil
	case '-':
		return nil, errors.New(line)
	}
	n, err := strconv.ParseInt(line, 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("redistest: a reply of type %q with %q", kind, line)
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(s.in, b)
		return string(b[:n]), err
	case kind == '*':
		all := make([]any, n)
		var errs []error
		for i := range all {
			if all[i], err = s.reply(); err != nil {
				errs = append(errs, err)
			}
		}
		return all, errors.Join(errs...)
	}
	return nil, fmt.Errorf("redistest: a reply of the unknown type %q", kind)
}

// fields returns a reply of names and values, such as that of SENTINEL MASTER, by name.
func fields(reply any) map[string]string {
	m := map[string]string{}
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return m
}
