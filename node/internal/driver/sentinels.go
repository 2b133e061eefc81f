package driver

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// SentinelPort is the default port of a Sentinel.
const SentinelPort = "26379"

// moreAnswers is how long Master waits for a majority of the Sentinels after the first answer.
const moreAnswers = 200 * time.Millisecond

// Sentinels are the Sentinels that know a master.
type Sentinels struct {
	Addrs []string                       // host:port of each Sentinel
	Name  string                         // the name of the master
	Login func() (user, password string) // for the Sentinels; without a password, or if it is nil, there is no AUTH
	// Dial connects to a Sentinel.
	Dial func(ctx context.Context, addr string) (net.Conn, error)

	mu     sync.Mutex
	idle   map[string]*line // idle connections, by address
	closed bool
	epoch  uint64    // the highest one of an answer that Master used
	heard  time.Time // when Master last used such an answer
}

// stale is the time for which Master refuses a configuration that is older than the last one that it used. The time is
// limited because a Sentinel that was reset begins with a lower epoch.
const stale = 10 * time.Second

// settle calls found with the address in the best of got answers. It refuses a configuration that is older than the last
// one. Otherwise a client could go back to the former master after a failover, because that master may still answer.
//
// settle calls found while it holds the mutex. Two questions at the same time could otherwise call found in the wrong
// order, and the client would also go back.
func (s *Sentinels) settle(best located, got int, found func(addr string)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if best.epoch < s.epoch && (got <= len(s.Addrs)/2 || time.Since(s.heard) < stale) {
		return fmt.Errorf("%d of %d Sentinels answered, and they have not heard of the last failover of %q", got, len(s.Addrs), s.Name)
	}
	s.epoch, s.heard = best.epoch, time.Now()
	found(best.addr)
	return nil
}

// lastAnswers is how long Master waits for the other Sentinels after the answers of a majority.
const lastAnswers = 50 * time.Millisecond

// located is the answer of one Sentinel.
type located struct {
	addr  string
	epoch uint64 // the epoch of the configuration: each failover has a higher one
	err   error
}

// Master asks all Sentinels for the address of the master, and calls found with it. It takes the answer with the highest configuration epoch,
// because a Sentinel that was cut off, or has not heard of a failover yet, names the former master. It does not wait for
// all Sentinels for long. An error means that no Sentinel gave an address, or that those which answered have not heard of
// the last failover. The calls of found come one after the other, and none has an older configuration than the one before.
// found must not block.
func (s *Sentinels) Master(ctx context.Context, found func(addr string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan located, len(s.Addrs))
	for _, a := range s.Addrs {
		go func() { answers <- s.ask(ctx, a) }()
	}
	var best located
	var failure error // the first one
	var patience <-chan time.Time
	got := 0
	for left := len(s.Addrs); left > 0; {
		select {
		case a := <-answers:
			left--
			if a.err != nil {
				failure = cmp.Or(failure, a.err)
				continue
			}
			if got++; got == 1 || a.epoch > best.epoch {
				best = a
			}
			if got == 1 {
				patience = time.After(moreAnswers)
			}
			if got > len(s.Addrs)/2 { // the Sentinel that has just made a failover may be another one
				patience = time.After(lastAnswers)
			}
		case <-patience:
			return s.settle(best, got, found)
		case <-ctx.Done():
			if got == 0 {
				return ContextError(ctx)
			}
			return s.settle(best, got, found)
		}
	}
	if got == 0 {
		return fmt.Errorf("no Sentinel names the master %q: %w", s.Name, failure)
	}
	return s.settle(best, got, found)
}

// askEvery is the pause between two questions for the master. The pause is short for this reason: if one client learns
// of a failover more than five windows later than another client, both clients may hold the same lock.
const askEvery = 250 * time.Millisecond

// Watch calls [Sentinels.Master] again and again, until ctx ends.
func (s *Sentinels) Watch(ctx context.Context, found func(addr string)) {
	t := time.NewTicker(askEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		within, cancel := context.WithTimeout(ctx, time.Second)
		_ = s.Master(within, found) // the next question may have an answer
		cancel()
	}
}

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
func (s *Sentinels) ask(ctx context.Context, addr string) located {
	if l := s.take(addr); l != nil {
		if a := s.on(ctx, addr, l); a.err == nil {
			return a
		}
	}
	conn, err := s.Dial(ctx, addr)
	if err != nil {
		return located{err: err}
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
	if _, err := l.say(ctx, auth...); err != nil {
		_ = l.Close()
		return located{err: fmt.Errorf("the Sentinel %s: %w", addr, err)}
	}
	return s.on(ctx, addr, l)
}

// on asks for the master over a connection. It keeps the connection after an answer, and closes it after an error.
func (s *Sentinels) on(ctx context.Context, addr string, l *line) (at located) {
	words, err := l.say(ctx, "SENTINEL", "MASTER", s.Name)
	if err != nil {
		_ = l.Close()
		return located{err: fmt.Errorf("the Sentinel %s: %w", addr, err)}
	}
	s.keep(addr, l)
	fields := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		fields[words[i]] = words[i+1]
	}
	if fields["ip"] == "" || fields["port"] == "" {
		return located{err: fmt.Errorf("the Sentinel %s: its answer names no address of %q", addr, s.Name)}
	}
	at.epoch, _ = strconv.ParseUint(fields["config-epoch"], 10, 64) // 0 for a proxy that plays Sentinel
	at.addr = net.JoinHostPort(fields["ip"], fields["port"])
	return at
}

// say sends a command and reads the answer. The end of ctx ends the call and closes the connection.
func (l *line) say(ctx context.Context, words ...string) ([]string, error) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	_, err := l.Write(Command(words...))
	var a Answer
	if err == nil {
		a, err = ReadAnswer(l.in)
	}
	if !stop() && err == nil {
		err = ContextError(ctx)
	}
	if err == nil && a.Err != "" {
		err = sentinelError(a.Err)
	}
	return a.Words, err
}

// sentinelError returns a Sentinel's error with advice. It is no *node.Error: the node itself was not asked.
func sentinelError(text string) error {
	e := node.ServerError(text)
	switch {
	case e.Code == node.NoAuth:
		return errors.New("it wants a password: add ?sentinel-password=PASSWORD to the URL")
	case e.Code == node.NoPerm:
		return fmt.Errorf("%s; its user needs +sentinel|master", e.Error())
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

// SentinelAddress returns the name of a node behind Sentinels. All clients must list the same Sentinels, or set a
// cluster name.
func SentinelAddress(s *Sentinels, tls bool, db int) string {
	scheme := "redis"
	if tls {
		scheme = "rediss"
	}
	return scheme + "+sentinel://" + strings.Join(s.Addrs, ",") + "/" + s.Name + "/" + strconv.Itoa(db)
}
