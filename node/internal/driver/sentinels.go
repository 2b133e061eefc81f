package driver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/node"
)

// SentinelPort is the default port of a Sentinel.
const SentinelPort = "26379"

// Sentinels are the Sentinels that know a master. Clients with the same Sentinels have a majority of them in common, so
// an answer counts only if a majority agrees. See docs/design/proofs.md, Sentinel.
type Sentinels struct {
	Addrs []string                       // host:port of each Sentinel
	Name  string                         // the name of the master
	Login func() (user, password string) // for the Sentinels; without a password, or if it is nil, there is no AUTH
	// Dial connects to a Sentinel.
	Dial func(ctx context.Context, addr string) (net.Conn, error)

	mu     sync.Mutex
	idle   map[string]*line // idle connections, by address
	closed bool
	last   located   // the last answer that Master used
	heard  time.Time // when Master last used an answer
	since  time.Time // when Master first used the present one
}

// Named is the master that a majority of the Sentinels names.
type Named struct {
	Addr  string
	Epoch string        // the epoch of the failover (config-epoch), sixteen digits; "" if the Sentinels tell none
	Firm  bool          // the Sentinels have said so for at least [stale]
	Asked clock.Instant // when the question was sent, by [clock.Steady]; 0 without Sentinel
}

// located is the answer of one Sentinel.
type located struct {
	addr  string
	epoch string // the epoch of the configuration: each failover has a higher one
}

// stale is the time for which Master refuses a configuration that is older than the last one that it used. The time is
// limited because a Sentinel that lost its state begins with a lower epoch.
const stale = 10 * time.Second

// Master asks all Sentinels for the master, and calls found with it as soon as a majority agrees. Less is not enough: a
// Sentinel that was cut off, or has not heard of a failover yet, names the former master. Master returns an error if
// there is no majority, or if it has not heard of the last failover. The calls of found come one after the other, and
// none has an older configuration than the one before, unless the Sentinels lost their state. found must not block.
func (s *Sentinels) Master(ctx context.Context, found func(Named)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		located
		err error
	}
	asked := steady()
	answers := make(chan answer, len(s.Addrs))
	for _, addr := range s.Addrs {
		go func() {
			at, err := s.ask(ctx, addr)
			answers <- answer{at, err}
		}()
	}
	var failure error // the first one
	same := map[located]int{}
	got := 0
	for range s.Addrs {
		select {
		case a := <-answers:
			if a.err != nil {
				failure = cmp.Or(failure, a.err)
				continue
			}
			got++
			if same[a.located]++; same[a.located] > len(s.Addrs)/2 {
				return s.settle(a.located, asked, found)
			}
		case <-ctx.Done():
			return ContextError(ctx)
		}
	}
	switch {
	case got == 0:
		return fmt.Errorf("no Sentinel names the master %q: %w", s.Name, failure)
	case failure != nil:
		return fmt.Errorf("no majority of the Sentinels names one master %q; %d of %d answered: %w", s.Name, got, len(s.Addrs), failure)
	}
	return fmt.Errorf("no majority of the %d Sentinels names one master %q; a failover may be under way", len(s.Addrs), s.Name)
}

// steady is the clock of all questions to Sentinels. It also runs while the host is suspended.
var steady = clock.Steady()

// settle calls found with the answer of a majority. It refuses a configuration that is older than the last one.
// Otherwise a client could go back to the former master after a failover, because that master may still answer.
//
// settle calls found while it holds the mutex. Two questions at the same time could otherwise call found in the wrong
// order, and the client would also go back.
func (s *Sentinels) settle(at located, asked clock.Instant, found func(Named)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if at.epoch < s.last.epoch && now.Sub(s.heard) < stale {
		return fmt.Errorf("the Sentinels have not heard of the last failover of %q", s.Name)
	}
	if s.last != at || s.since.IsZero() {
		s.last, s.since = at, now
	}
	s.heard = now
	found(Named{at.addr, at.epoch, now.Sub(s.since) >= stale, asked})
	return nil
}

// askEvery is the pause between two questions for the master.
const askEvery = node.NamedFor / 4

// Watch calls [Sentinels.Master] again and again, until ctx ends. After two questions in a row without an answer it
// calls lost.
func (s *Sentinels) Watch(ctx context.Context, found func(Named), lost func()) {
	t := time.NewTicker(askEvery)
	defer t.Stop()
	for failures := 0; ; {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		within, cancel := context.WithTimeout(ctx, node.NamedFor)
		err := s.Master(within, found)
		cancel()
		if failures++; err == nil {
			failures = 0
		} else if failures > 1 && ctx.Err() == nil {
			lost()
		}
	}
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
