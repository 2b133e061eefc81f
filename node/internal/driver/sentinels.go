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
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// SentinelPort is the default port of a Sentinel.
const SentinelPort = "26379"

// moreAnswers is how long Master waits for a majority of the Sentinels after the first answer.
const moreAnswers = 200 * time.Millisecond

// Sentinels are the Sentinels that know a master.
type Sentinels struct {
	Addrs          []string // host:port of each Sentinel
	Name           string   // of the master
	User, Password string   // for the Sentinels; no password, no AUTH
	// Dial connects to a Sentinel.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// lastAnswers is how long Master waits for the other Sentinels after the answers of a majority.
const lastAnswers = 50 * time.Millisecond

// located is the answer of one Sentinel.
type located struct {
	addr  string
	epoch uint64 // of the configuration: each failover has a higher one
	err   error
}

// Master asks all Sentinels for the address of the master. It takes the answer with the highest configuration epoch,
// because a Sentinel that was cut off, or has not heard of a failover yet, names the former master. It does not wait for
// all Sentinels for long. An error means that no Sentinel gave an address.
func (s *Sentinels) Master(ctx context.Context) (string, error) {
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
			return best.addr, nil
		case <-ctx.Done():
			if got == 0 {
				return "", ContextError(ctx)
			}
			return best.addr, nil
		}
	}
	if got == 0 {
		return "", fmt.Errorf("no Sentinel names the master %q: %w", s.Name, failure)
	}
	return best.addr, nil
}

// ask asks one Sentinel.
func (s *Sentinels) ask(ctx context.Context, addr string) (l located) {
	conn, err := s.Dial(ctx, addr)
	if err != nil {
		return located{err: err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // an error only says that it was closed before
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // if this fails, the read fails too
	}
	conn = Bound(conn)
	in := bufio.NewReader(conn)
	say := func(words ...string) (Answer, error) {
		if _, err := conn.Write(Command(words...)); err != nil {
			return Answer{}, err
		}
		return ReadAnswer(in)
	}
	fail := func(a Answer, err error) located {
		if err == nil {
			err = sentinelError(a.Err)
		}
		return located{err: fmt.Errorf("the Sentinel %s: %w", addr, err)}
	}
	if s.Password != "" {
		auth := []string{"AUTH", s.Password}
		if s.User != "" {
			auth = []string{"AUTH", s.User, s.Password}
		}
		if a, err := say(auth...); err != nil || a.Err != "" {
			return fail(a, err)
		}
	}
	a, err := say("SENTINEL", "MASTER", s.Name)
	if err != nil || a.Err != "" {
		return fail(a, err)
	}
	fields := map[string]string{}
	for i := 0; i+1 < len(a.Words); i += 2 {
		fields[a.Words[i]] = a.Words[i+1]
	}
	if fields["ip"] == "" || fields["port"] == "" {
		return located{err: fmt.Errorf("the Sentinel %s: its answer names no address of %q", addr, s.Name)}
	}
	l.epoch, _ = strconv.ParseUint(fields["config-epoch"], 10, 64) // 0 for a proxy that plays Sentinel
	l.addr = net.JoinHostPort(fields["ip"], fields["port"])
	return l
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
