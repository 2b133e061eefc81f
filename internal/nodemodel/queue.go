package nodemodel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// waiter is one place in a queue. The lowest ticket is first. Of equal tickets, the owner that sorts first is first.
type waiter struct {
	ticket int64
	owner  string
}

func (a waiter) compare(b waiter) int {
	return cmp.Or(cmp.Compare(a.ticket, b.ticket), strings.Compare(a.owner, b.owner))
}

// queueKey returns the key of the queue for the name of a record.
func queueKey(record string) string { return record + ":queue" }

// queue returns the waiters in order. The error is WRONGTYPE if the key holds no queue.
func (n *Node) queue(key string) ([]waiter, error) {
	v, there := n.keys[key]
	if there && v.queue == nil {
		return nil, wrongType
	}
	if !there {
		return nil, nil
	}
	return v.queue, nil
}

// join puts owner in the queue, unless it is in it already. It does not set the life of the queue.
func (n *Node) join(key, ticket, owner string) error {
	if q, _ := n.queue(key); rank(q, owner) >= 0 && !n.Full {
		return nil
	}
	return n.place(key, number(ticket), owner)
}

// place gives owner a place in the queue and replaces its earlier place. Otherwise it works as join does.
func (n *Node) place(key string, ticket int64, owner string) error {
	if n.Full {
		return oom
	}
	q, err := n.queue(key)
	if err != nil {
		return err
	}
	q = slices.DeleteFunc(slices.Clone(q), func(w waiter) bool { return w.owner == owner })
	q = append(q, waiter{ticket, owner})
	slices.SortFunc(q, waiter.compare)
	if n.keys[key] == nil {
		n.keys[key] = &value{}
	}
	n.keys[key].queue = q
	return nil
}

// quit removes owner from the queue. An empty queue has no key.
func (n *Node) quit(key, owner string) error {
	n.wrote()
	q, err := n.queue(key)
	if err != nil {
		return err
	}
	if i := rank(q, owner); i >= 0 {
		q = slices.Delete(slices.Clone(q), i, i+1)
		n.keys[key].queue = q
		if len(q) == 0 {
			delete(n.keys, key)
		}
	}
	return nil
}

// rank returns the number of waiters before owner, -1 if owner does not wait.
func rank(q []waiter, owner string) int {
	return slices.IndexFunc(q, func(w waiter) bool { return w.owner == owner })
}

// printedRank returns a rank as answers print it.
func printedRank(q []waiter, owner string) string {
	if i := rank(q, owner); i >= 0 {
		return fmt.Sprintf("%06d", min(i, 999_999))
	}
	return noRank
}

const noRank = "------"

// handing is the state of a name for a hand-off.
type handing struct {
	seen, leased int64
	above        int64 // the next token must exceed it
	marked       bool  // the record's flag has readers
	beside       bool  // readers have the name
}

// handOff gives a free name, as a claim, to the first waiter of its queue that hears of it, and to the readers directly
// behind a reader. Beside readers it gives claims to readers at the front only. It returns the first such owner, or "".
// A claim is no grant and does not change seen. handOff drops a waiter that does not hear. The message begins with a
// token that the next one must exceed. A lease that waits for its repair is skipped if a later lease may have been
// here.
func (n *Node) handOff(s script, c node.Call, h handing) (next string) {
	key, free := queueKey(c.Keys[0]), !h.beside
	if h.marked {
		if r, err := n.readers(c); err != nil || !r.there || len(r.text) != 32 {
			return ""
		}
	}
	for given := 0; given < nodescript.MostClaims; {
		q, err := n.queue(key)
		if err != nil || len(q) == 0 || h.beside && !nodescript.IsReader(q[0].owner) {
			break
		}
		first := q[0].owner
		_ = n.quit(key, first) // the key is a queue
		over := q[0].ticket < 0 && -q[0].ticket < h.leased
		spoiled := !h.marked && nodescript.IsReader(first) && n.otherThanHash(nodescript.ReadersKey(c.Keys[0]))
		if over || spoiled || !handable(first) || n.publish(nodescript.Inbox(client(first)), news(h.above, first, c, false)) == 0 {
			continue
		}
		if next == "" {
			next = first
		}
		ends, ms := n.now()+s.config.Claim().Microseconds(), s.config.Claim().Milliseconds()
		if !nodescript.IsReader(first) {
			r := nodescript.Record{Seen: h.seen, Expiry: ends, Waiting: len(q) > 1, Shared: h.marked, Leased: h.leased, Owner: first}
			n.keepText(c.Keys[0], r.String(), stays(s), false)
			if len(c.Keys) > 1 {
				n.setText(c.Keys[1], first, ms)
			}
			return first
		}
		n.claim(s, c, first, ends, h.marked)
		switch {
		case len(c.Keys) < 2:
		case free && given == 0:
			n.setText(c.Keys[1], nodescript.Marker, ms)
		default:
			n.lengthen(c.Keys[1], ms)
		}
		given++
		h.marked, h.beside = true, true
	}
	if next == "" {
		return ""
	}
	_, waiting := n.keys[key]
	r := nodescript.Record{Seen: h.seen, Leased: h.leased}
	if !free {
		old, _ := n.record(c.Keys[0])
		r = old.Record
	}
	r.Waiting, r.Shared = waiting, true
	if free {
		n.keepText(c.Keys[0], r.String(), stays(s), false)
	} else {
		n.flag(c, r)
	}
	return next
}

// news returns a message to an inbox: the highest token seen, the owner, and the lock. If wanted, a holder asks for the
// partial grant of this token.
func news(token int64, owner string, c node.Call, wanted bool) string {
	what := 0
	if len(c.Keys) > 1 {
		what = 1
	}
	if wanted {
		what += 2
	}
	return fmt.Sprint(nodescript.Micros(token), owner, "\n", what, c.Keys[0])
}

// handable reports whether the name can go to an entry of the queue. An entry that is no owner gets nothing, because
// anybody may have written it.
func handable(owner string) bool {
	return strings.Count(owner, "~") >= 2 && len(owner) <= nodescript.MostOwner && !strings.Contains(owner, "\n")
}

// client returns the second part of an owner, label~client~rest.
func client(owner string) string {
	if parts := strings.SplitN(owner, "~", 3); len(parts) == 3 {
		return parts[1]
	}
	return ""
}

// listener is one subscription.
type listener struct {
	channel string
	on      func(string)
	broke   chan struct{}
}

// Subscribe makes on hear the messages of a channel, after the call that published them. It ends when stop is called or
// the node restarts.
func (n *Node) Subscribe(channel string, on func(message string)) (stop func()) {
	return n.subscribe(channel, on).stop(n)
}

func (n *Node) subscribe(channel string, on func(string)) *listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{channel, on, make(chan struct{})}
	n.listeners = append(n.listeners, l)
	return l
}

func (l *listener) stop(n *Node) func() {
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.listeners = slices.DeleteFunc(n.listeners, func(o *listener) bool { return o == l })
	}
}

// listens reports whether somebody subscribed to a channel.
func (n *Node) listens(channel string) bool {
	return slices.ContainsFunc(n.listeners, func(l *listener) bool { return l.channel == channel })
}

// publish returns the number of listeners that hear the message.
func (n *Node) publish(channel, message string) (heard int) {
	for _, l := range n.listeners {
		if l.channel == channel {
			heard++
			n.news = append(n.news, func() { l.on(message) })
		}
	}
	return heard
}

// disconnect ends every subscription. The caller holds n.mu.
func (n *Node) disconnect() {
	for _, l := range n.listeners {
		close(l.broke)
	}
	n.listeners = nil
}

// Listen implements [node.Node].
func (n *Node) Listen(ctx context.Context, channel string, on func(string)) error {
	n.mu.Lock()
	closed := n.closed
	n.mu.Unlock()
	if closed {
		return node.ErrClosed
	}
	messages := make(chan string, 64)
	l := n.subscribe(channel, func(m string) {
		select {
		case messages <- m:
		case <-ctx.Done():
		}
	})
	defer l.stop(n)()
	on("")
	for {
		select {
		case m := <-messages:
			on(m)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.broke:
			return errDisconnected
		}
	}
}
