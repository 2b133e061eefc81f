package rueidisnode

import (
	"context"
	"fmt"
	"io"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// Listen implements [node.Node]. The subscription has a connection of its own, so
// that a slow listener holds up no call. A message without text is not passed on.
func (n *Node) Listen(ctx context.Context, channel string, on func(message string)) error {
	if n.closed() {
		return node.ErrClosed
	}
	if ctx.Err() != nil {
		return node.NotSent(driver.ContextError(ctx))
	}
	return driver.Feed(ctx, on, func(ctx context.Context, emit func(string)) error {
		l, err := n.connect(ctx, forListening)
		if err != nil {
			return err
		}
		defer l.drop()
		hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
			if s.Kind == "subscribe" {
				emit("")
			}
		})
		err = l.client.Receive(hooked, l.client.B().Subscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) {
			if m.Message != "" {
				emit(m.Message)
			}
		})
		switch _, refused := rueidis.IsRedisErr(err); {
		case n.closed():
			return node.ErrClosed
		case refused:
			return serverError(err)
		case err == nil:
			err = io.EOF
		}
		return fmt.Errorf("connection lost: %w", err)
	})
}
