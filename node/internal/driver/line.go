package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/node"
)

// This file asks one Sentinel.

// line is a connection to a Sentinel.
type line struct {
	net.Conn
	in *bufio.Reader
}

// take returns an idle connection to a Sentinel, nil if there is none.
func (s *Sentinels) take(addr string) (l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.idle[addr]
	delete(s.idle, addr)
	return l
}

// keep keeps a connection for the next question.
func (s *Sentinels) keep(addr string, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.idle[addr] != nil {
		_ = l.Close() // here and below, an error only says that the connection was closed before
		return
	}
	if s.idle == nil {
		s.idle = map[string]*line{}
	}
	s.idle[addr] = l
}

// Close drops the idle connections. No connection stays open after it.
func (s *Sentinels) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for addr, l := range s.idle {
		_ = l.Close()
		delete(s.idle, addr)
	}
}

// ask asks one Sentinel, over an idle connection if there is one. That one may be broken, so ask tries another one.
func (s *Sentinels) ask(ctx context.Context, addr string) (at located, err error) {
	if l := s.take(addr); l != nil {
		if at, err = s.on(ctx, addr, l); err == nil {
			return at, nil
		}
	}
	conn, err := s.Dial(ctx, addr)
	if err != nil {
		return at, err
	}
	l := &line{Conn: Bound(conn)}
	l.in = bufio.NewReader(l.Conn)
	user, password := "", ""
	if s.Login != nil {
		user, password = s.Login()
	}
	if password == "" {
		return s.on(ctx, addr, l)
	}
	auth := []string{"AUTH", password}
	if user != "" {
		auth = []string{"AUTH", user, password}
	}
	if _, err := l.say(ctx, auth); err != nil {
		_ = l.Close()
		return at, fmt.Errorf("the Sentinel %s: %w", addr, err)
	}
	return s.on(ctx, addr, l)
}

// errMoved means that a Sentinel made a failover between two commands of a question.
var errMoved = errors.New("it is changing the master")

// on asks for the master over a connection. It keeps the connection after an answer, and closes it after an error.
//
// SENTINEL MASTER tells the epoch. But while the Sentinel that makes a failover waits for the other replicas, it
// already tells the new epoch with the address of the former master. The second command tells the address of the new
// one. The third makes sure that both belong together.
func (s *Sentinels) on(ctx context.Context, addr string, l *line) (at located, err error) {
	master := []string{"SENTINEL", "MASTER", s.Name}
	answers, err := l.say(ctx, master, []string{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.Name}, master)
	if err == nil {
		at.epoch = epoch(answers[0])
		if at.epoch != epoch(answers[2]) {
			err = errMoved
		}
	}
	if err == nil && (len(answers[1]) != 2 || answers[1][0] == "" || answers[1][1] == "") {
		err = fmt.Errorf("its answer names no address of %q", s.Name)
	}
	if err != nil {
		_ = l.Close()
		return at, fmt.Errorf("the Sentinel %s: %w", addr, err)
	}
	s.keep(addr, l)
	at.addr = net.JoinHostPort(answers[1][0], answers[1][1])
	return at, nil
}

// epoch returns the epoch in an answer to SENTINEL MASTER, sixteen digits. It returns "" for a proxy that plays
// Sentinel and tells none.
func epoch(fields []string) string {
	for i := 0; i+1 < len(fields); i += 2 {
		if n, err := strconv.ParseUint(fields[i+1], 10, 64); fields[i] == "config-epoch" && err == nil {
			return fmt.Sprintf("%016d", min(n, 9_999_999_999_999_999))
		}
	}
	return ""
}

// say sends commands and reads their answers. The end of ctx ends the call and closes the connection.
func (l *line) say(ctx context.Context, commands ...[]string) (answers [][]string, err error) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	var out []byte
	for _, c := range commands {
		out = append(out, Command(c...)...)
	}
	_, err = l.Write(out)
	for range commands {
		var a Answer
		if err == nil {
			a, err = ReadAnswer(l.in)
		}
		if err == nil && a.Err != "" {
			err = sentinelError(a.Err)
		}
		answers = append(answers, a.Words)
	}
	if !stop() && err == nil {
		err = ContextError(ctx)
	}
	return answers, err
}

// sentinelError returns a Sentinel's error with advice. It is no *node.Error: the node itself was not asked.
func sentinelError(text string) error {
	e := node.ServerError(text)
	switch {
	case e.Code == node.NoAuth:
		return errors.New("it wants a password: add ?sentinel-password=PASSWORD to the URL")
	case e.Code == node.NoPerm:
		return fmt.Errorf("%s; its user needs +sentinel|master and +sentinel|get-master-addr-by-name", e.Error())
	case strings.Contains(strings.ToLower(e.Message), "unknown command"):
		return fmt.Errorf("it is no Sentinel; give the addresses of the Sentinels, port %s by default", SentinelPort)
	case strings.Contains(strings.ToLower(e.Message), "no such master"):
		return errors.New("it monitors no master of this name (sentinel monitor NAME …)")
	}
	return errors.New(e.Error())
}

// Command returns a command in the Redis protocol.
func Command(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}
