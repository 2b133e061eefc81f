package nodetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// listener runs Listen and collects its messages.
type listener struct {
	messages chan string
	end      chan error
}

// listen starts a listener. It returns when the server has confirmed the subscription.
func listen(t *testing.T, ctx context.Context, n node.Node, channel string) listener {
	t.Helper()
	l := listener{make(chan string, 1000), make(chan error, 1)}
	go func() { l.end <- n.Listen(ctx, channel, func(m string) { l.messages <- m }) }()
	select {
	case m := <-l.messages:
		if m != "" {
			t.Fatalf("first came %q, want the confirmation", m)
		}
	case err := <-l.end:
		t.Fatalf("ended: %v", err)
	case <-time.After(patience):
		t.Fatal("no confirmation")
	}
	return l
}

// ended waits for the end of Listen.
func (l listener) ended(t *testing.T, limit time.Duration) error {
	t.Helper()
	select {
	case err := <-l.end:
		if err == nil {
			t.Error("ended without saying why")
		}
		return err
	case <-time.After(limit):
		t.Fatal("does not end")
		return nil
	}
}

// listenShardHearsSpublish checks a driver that implements [node.Sharded]: ListenShard gets only messages of
// SPUBLISH, and Listen only messages of PUBLISH.
func (s suite) listenShardHearsSpublish(t *testing.T) {
	server, n := s.start(t)
	sharded, ok := n.(node.Sharded)
	if !ok {
		return // a driver may leave this interface out
	}
	if _, err := server.Do("SPUBLISH", "inbox", "nobody listens"); err != nil && strings.Contains(err.Error(), "unknown command") {
		return // a server before Redis 7
	}
	plain := listen(t, t.Context(), n, "inbox")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := listener{make(chan string, 10), make(chan error, 1)}
	go func() { l.end <- sharded.ListenShard(ctx, "inbox", func(m string) { l.messages <- m }) }()
	for i, want := range []string{"", "to the shard"} {
		if i > 0 {
			server.MustDo(t, "PUBLISH", "inbox", "to all")
			server.MustDo(t, "SPUBLISH", "inbox", want)
		}
		select {
		case m := <-l.messages:
			if m != want {
				t.Fatalf("got %q, want %q", m, want)
			}
		case <-time.After(patience):
			t.Fatalf("no message %q", want)
		}
	}
	if m := <-plain.messages; m != "to all" {
		t.Errorf("Listen got %q, want what PUBLISH sent", m)
	}
	cancel()
	if err := l.ended(t, patience); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func (s suite) listenReceivesInOrder(t *testing.T) {
	server, n := s.start(t)
	l := listen(t, t.Context(), n, "inbox")
	other := listen(t, t.Context(), n, "other")
	var want []string
	for i := range 300 {
		want = append(want, fmt.Sprintf("message %d \x00\r\n", i))
		server.MustDo(t, "PUBLISH", "inbox", want[i])
	}
	var got []string
	for range want {
		select {
		case m := <-l.messages:
			got = append(got, m)
		case <-time.After(patience):
			t.Fatalf("only %d messages", len(got))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if len(other.messages) != 0 {
		t.Errorf("another channel got %q", <-other.messages)
	}
	// The subscription must also survive a time without messages.
	select {
	case err := <-l.end:
		t.Errorf("ended in silence: %v", err)
	case <-time.After(2500 * time.Millisecond):
	}
	server.MustDo(t, "PUBLISH", "inbox", "after silence")
	select {
	case m := <-l.messages:
		if m != "after silence" {
			t.Errorf("got %q", m)
		}
	case <-time.After(patience):
		t.Error("no message after silence")
	}
}

func (s suite) listenEndsWithItsContext(t *testing.T) {
	server, n := s.start(t)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	l := listen(t, ctx, n, "inbox")
	cancel(reason)
	if err := l.ended(t, grace); !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
		t.Errorf("%v; want the cancellation and its cause", err)
	}
	redistest.Eventually(t, patience, "the subscription ends", func() bool {
		return server.MustDo(t, "PUBLISH", "inbox", "x") == int64(0)
	})
	server.Freeze()
	begin := time.Now()
	if err := n.Listen(within(t, short), "inbox", func(string) {}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > short+grace {
		t.Errorf("at a frozen server: %v after %v", err, time.Since(begin))
	}
}

// listenLeavesNoConnection uses a server that accepts connections and sends nothing, as a frozen server does. When
// Listen has ended, its connection must be closed. Otherwise each try of a caller would leave a connection open.
func (s suite) listenLeavesNoConnection(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	n := s.node(t, "redis://"+silent.Addr().String())
	for range 3 {
		listen, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Listen(listen, "inbox", func(string) { t.Error("listening") }) }()
		c, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v; want the cancellation", err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience)) // if this fails, the read fails too
		if _, err := io.Copy(io.Discard, c); node.Timeout(err) {
			t.Errorf("%s after Listen has ended its connection is there", patience)
		}
	}
}

func (s suite) listenEndsWithTheServer(t *testing.T) {
	server, n := s.start(t)
	l := listen(t, t.Context(), n, "inbox")
	server.Restart() // the server is back at once: a client library that reconnects without a report would not end
	if err := l.ended(t, patience); errors.Is(err, node.ErrClosed) {
		t.Errorf("%v", err)
	}
	listen(t, t.Context(), n, "inbox")
}

func (s suite) listenEndsOnAHungConnection(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	l := listen(t, t.Context(), s.node(t, proxy.URL()), "inbox")
	proxy.BlackHole(true)
	if err := l.ended(t, patience); !node.Timeout(err) {
		t.Errorf("%v; want a time-out", err)
	}
}

func (s suite) listenIsRefused(t *testing.T) {
	server := redistest.Start(t)
	server.MustDo(t, "ACL", "SETUSER", "deaf", "on", ">pw", "~*", "+@all", "resetchannels")
	n := s.node(t, strings.Replace(server.URL(), "://", "://deaf:pw@", 1))
	err := n.Listen(within(t, patience), "inbox", func(string) { t.Error("listening") })
	wantCode(t, "no right to the channel", err, node.NoPerm)
}

func (s suite) listenEndsWithClose(t *testing.T) {
	_, n := s.start(t)
	l := listen(t, t.Context(), n, "inbox")
	n.Close()
	if err := l.ended(t, grace); !errors.Is(err, node.ErrClosed) {
		t.Errorf("%v; want ErrClosed", err)
	}
}
