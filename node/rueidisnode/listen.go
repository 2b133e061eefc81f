package rueidisnode

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// Listen implements [node.Node]. Each subscription has its own connection, so a slow listener does not delay calls.
// Listen ignores messages without text.
//
// rueidis makes the connection and does the handshake. Then this file reads the messages itself. A subscription of
// rueidis would need three goroutines, and would end the process if a server sends unexpected data.
func (n *Node) Listen(ctx context.Context, channel string, on func(message string)) error {
	return n.listen(ctx, "", channel, on)
}

// ListenShard implements [node.Sharded]. It does the same as Listen with SSUBSCRIBE.
func (n *Node) ListenShard(ctx context.Context, channel string, on func(message string)) error {
	return n.listen(ctx, "s", channel, on)
}

// listen subscribes to a channel. prefix comes before the words "subscribe" and "message" of the protocol: it is "s"
// for a sharded channel, and "" for any other.
func (n *Node) listen(ctx context.Context, prefix, channel string, on func(message string)) error {
	if n.closed() {
		return node.ErrClosed
	}
	if ctx.Err() != nil {
		return node.NotSent(driver.ContextError(ctx))
	}
	return driver.Feed(ctx, on, func(ctx context.Context, emit func(string)) error {
		l, err := n.connect(ctx, forCalls)
		if err != nil {
			return err
		}
		defer l.drop()
		defer context.AfterFunc(ctx, l.drop)() // ends a read
		l.wire.ledger.Subscribe()
		s := subscription{wire: l.wire, in: bufio.NewReader(l.wire.Conn), prefix: prefix, channel: channel}
		err = s.receive(emit)
		switch {
		case n.closed():
			return node.ErrClosed
		case node.Code(err) != "":
			return err
		}
		return fmt.Errorf("connection lost: %w", err)
	})
}

// subscription is a connection to one channel.
type subscription struct {
	wire       *wire
	in         *bufio.Reader
	prefix     string // "s" for a sharded channel, else ""
	channel    string
	subscribed bool
}

// receive subscribes, and emits each message until the connection breaks. It returns why the connection broke.
func (s *subscription) receive(emit func(string)) error {
	if err := s.send(strings.ToUpper(s.prefix)+"SUBSCRIBE", s.channel); err != nil {
		return err
	}
	pinged := false
	for {
		wait := pingAfter
		if pinged || !s.subscribed {
			wait = hungAfter
		}
		_ = s.wire.SetReadDeadline(time.Now().Add(wait)) // if this fails, the read fails too
		switch _, err := s.in.Peek(1); {
		case err == nil:
		case !node.Timeout(err):
			return err
		case pinged:
			return fmt.Errorf("a ping was not answered: %w", err)
		case !s.subscribed:
			return fmt.Errorf("the subscription was not answered: %w", err)
		default:
			if err := s.send("PING"); err != nil {
				return err
			}
			pinged = true
			continue
		}
		_ = s.wire.SetReadDeadline(time.Now().Add(hungAfter)) // limit for the rest of the message
		said, err := driver.ReadAnswer(s.in)
		if err != nil {
			return err
		}
		pinged = false
		if err := s.take(said, emit); err != nil {
			return err
		}
	}
}

// take handles one message of the server.
func (s *subscription) take(said driver.Answer, emit func(string)) error {
	switch words := said.Words; {
	case said.Err != "":
		return node.ServerError(said.Err)
	case len(words) != 3 || words[1] != s.channel: // for example the answer to a ping
	case words[0] == s.prefix+"subscribe" && !s.subscribed:
		s.subscribed = true
		emit("")
	case words[0] == s.prefix+"unsubscribe" && s.subscribed: // the hash slot of a sharded channel has moved
		return fmt.Errorf("the server ended the subscription (%sunsubscribe)", s.prefix)
	case words[0] == s.prefix+"message" && s.subscribed && words[2] != "":
		emit(words[2])
	}
	return nil
}

func (s *subscription) send(words ...string) error {
	var b []byte
	b = fmt.Appendf(b, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	_ = s.wire.SetWriteDeadline(time.Now().Add(hungAfter)) // if this fails, the write fails too
	_, err := s.wire.Write(b)
	return err
}
