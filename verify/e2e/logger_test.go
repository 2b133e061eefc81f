package e2e

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// blocking is the output of a log that blocks when a node does not vote, as a terminal does after Ctrl-S.
type blocking struct {
	written
	goOn    chan struct{}
	blocked chan struct{} // this channel closes when a writer is blocked
	once    sync.Once
}

func newBlocking() *blocking {
	return &blocking{goOn: make(chan struct{}), blocked: make(chan struct{})}
}

func (b *blocking) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("does not vote")) {
		b.once.Do(func() { close(b.blocked) })
		<-b.goOn
	}
	return b.written.Write(p)
}

func (b *blocking) logger(c *holdfast.Config) { c.Logger = slog.New(slog.NewTextHandler(b, nil)) }

// awaitBlocked returns when the log blocks a line about a node.
func (b *blocking) awaitBlocked(t *testing.T) {
	t.Helper()
	select {
	case <-b.blocked:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody says that a node is down")
	}
}

func TestALoggerThatBlocksDoesNotKeepALeaseFromItsRenewals(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	b := newBlocking()
	defer close(b.goOn)
	const ttl = 4 * time.Second
	c := s.ready(s.client(b.logger, func(c *holdfast.Config) { c.MaxTTL, c.TTL = ttl, ttl }))
	l := lock(t, c, "x")
	over := l.Context()
	s.servers[0].Kill()
	b.awaitBlocked(t)
	// The test asks the node, because the lease itself may hang.
	before, _ := s.record(1, "x")
	redistest.Eventually(t, 20*time.Second, "two more TTLs of the lease", func() bool {
		if over.Err() != nil {
			t.Fatalf("the lease ended: %v", context.Cause(over))
		}
		now, ok := s.record(1, "x")
		return ok && now.Expiry-before.Expiry > ttl.Microseconds()
	})
	if other := lock(t, c, "y"); other.Unlock(t.Context()) != nil {
		t.Error("another lock was not given back")
	}
	if err := l.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALossIsAnnouncedAlthoughTheLoggerBlocks(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	b := newBlocking()
	defer close(b.goOn)
	c := s.ready(s.client(b.logger))
	l := lock(t, c, "x")
	s.each([]int{0, 1}, (*redistest.Server).Kill)
	b.awaitBlocked(t)
	select {
	case <-l.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the lease's context never ended")
	}
	if err := context.Cause(l.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("Close waits for the logger for ever")
	}
}

// curious is a handler that needs time to say whether it wants warnings.
type curious struct {
	slog.Handler
	goOn chan struct{}
}

func (c curious) Enabled(ctx context.Context, l slog.Level) bool {
	if l >= slog.LevelWarn {
		<-c.goOn
	}
	return c.Handler.Enabled(ctx, l)
}

// The client calls no method of the Logger at the end of a lease, not even Enabled.
func TestALossIsAnnouncedAlthoughTheLoggerIsSlowToAnswer(t *testing.T) {
	t.Parallel()
	s := newSet(t, 1)
	b := curious{slog.DiscardHandler, make(chan struct{})}
	voting := s.ready(s.client()) // all nodes vote then, so the client under test has nothing to report before
	voting.Close()
	c := s.client(func(c *holdfast.Config) { c.Logger = slog.New(&b) })
	defer c.Close()
	defer close(b.goOn)
	l := lock(t, c, "x")
	s.servers[0].MustDo(t, "DEL", "{x}:holdfast", "x")
	s.servers[0].MustDo(t, "SET", "x", "thief")
	select {
	case <-l.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the lease's context never ended")
	}
}

// Close must wait for the log because a test's log, for example, must not be used after the test.
func TestCloseWaitsForWhatWasLogged(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	b := newBlocking()
	c := s.ready(s.client(b.logger))
	s.servers[0].Kill()
	lock(t, c, "x") // the client renews this lease, and so misses the node
	b.awaitBlocked(t)
	time.AfterFunc(100*time.Millisecond, func() { close(b.goOn) })
	c.Close()
	if !strings.Contains(b.String(), "does not vote") {
		t.Errorf("when Close returned the log was:\n%s", b.String())
	}
}

// The log reports the loss of a node's vote as bad news.
func TestTheLogSaysForHowLongANodeDoesNotVote(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	var log written
	c := s.ready(s.client(func(c *holdfast.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
	s.servers[0].Restart()
	admin.Nodes(t.Context(), c)
	if err := c.Close(); err != nil { // Close waits for the log
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "level=WARN msg=\"node does not vote\" ") || strings.Contains(text, "again in") {
		t.Errorf("it logged %q", text)
	}
	// Programs get codes and a duration. People get a sentence.
	for _, attr := range []string{" reason=quarantined ", " cause=new ", " votes_in=", ` said="quarantined for another `} {
		if text := log.String(); !strings.Contains(text, attr) {
			t.Errorf("it logged %q without %q", text, attr)
		}
	}
}
