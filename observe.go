package holdfast

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
)

// Status describes the holder of a lock, as the nodes see it.
type Status struct {
	Name string

	// Held is true if a majority of the nodes names the same holder. If it is false and Status returned an error, the
	// holder is unknown.
	Held    bool
	Foreign bool      // the holder is not a client of Holdfast
	Owner   string    // "label~client~random", with "~left" behind it if Left; or a foreign value, "" if that is no string
	Fence   int64     // the holder's fencing token; 0 if Foreign or Offered
	Since   time.Time // time of the acquisition, by the nodes' clocks; zero if Foreign or Offered
	Until   time.Time // end of the lease unless it is renewed; zero if never

	// Left says that the holder has ended its lease and keeps the name taken until Until: by
	// [Lease.UnlockAt], or in a gap of [Config.PollGap].
	Left bool

	// Offered says that nobody has the lock yet: it was handed to Owner, the first in line,
	// and is reserved until it takes it, for a second at most.
	Offered bool

	// Nodes has what each node stores, in the order of Config.Nodes: free, held, offered, or why the node could not be
	// asked.
	Nodes []NodeAnswer
}

// Status returns the holder of the lock with this name. It changes nothing, and it asks all nodes, also those that do
// not vote.
//
// The error matches [ErrUnavailable] if too few nodes answered: less than a majority, or so few that the silent nodes
// could complete a majority for a holder that another node names. The Status then has the answers of the other nodes.
// If ctx has ended by then, the error also matches ctx's Err and cause.
func (c *Client) Status(ctx context.Context, name string) (*Status, error) {
	m := c.Mutex(name)
	if err := checkName(m.lock.Name); err != nil {
		return nil, m.prefix(err)
	}
	if c.closed.Load() {
		return nil, m.prefix(ErrClosed)
	}
	views, errs := c.fan.Inspect(ctx, m.lock)
	s := &Status{Name: name}
	for i, v := range views {
		n := viewOf(v)
		if errs[i] != nil {
			n.failed(errs[i])
		}
		n.Node = c.fan.Addr(i)
		s.Nodes = append(s.Nodes, n.about(m.lock.Name))
	}
	if s.judge() {
		return s, nil
	}
	un := &UnavailableError{Name: name, Nodes: slices.Clone(s.Nodes)}
	if ctx.Err() != nil {
		return s, m.prefix(ended(ctx, un))
	}
	return s, m.prefix(un)
}

// judge sets the holder. It reports false if the nodes that answered do not decide who holds the lock.
func (s *Status) judge() (known bool) {
	count, most, silent := map[string]int{}, 0, 0
	majority := quorum.Majority(len(s.Nodes))
	for _, n := range s.Nodes {
		switch {
		case n.Err != nil:
			silent++
			continue
		case !n.Held():
			continue
		}
		count[n.Owner]++
		most = max(most, count[n.Owner])
		if count[n.Owner] >= majority {
			s.Held, s.Owner = true, n.Owner
		}
	}
	s.tell(majority)
	return s.Held || len(s.Nodes)-silent >= majority && most+silent < majority
}

// tell sets what the nodes say about the holder. Some nodes may still have a claim of the owner. The owner has a lease
// if a majority says so.
func (s *Status) tell(majority int) {
	leases, fence := 0, int64(0)
	for _, n := range s.Nodes {
		if n.Err != nil || !n.Held() || n.Owner != s.Owner || !s.Held {
			continue
		}
		s.Foreign = s.Foreign || n.Foreign
		if n.Fence != 0 {
			leases++
			fence = max(fence, n.Fence)
		}
		if n.Until.After(s.Until) {
			s.Until = n.Until
		}
	}
	s.Left = s.Held && !s.Foreign && nodescript.HasLeft(s.Owner)
	s.Offered = s.Held && !s.Foreign && leases < majority
	if leases >= majority {
		s.Fence, s.Since = fence, time.UnixMicro(fence)
	}
}

// viewOf returns the answer for what a node stores.
func viewOf(v nodescript.View) NodeAnswer {
	switch {
	case v.Live() && (v.Kind == '-' || v.Plain == v.Record.Owner):
		n := NodeAnswer{Reason: ReasonHeld, Owner: v.Record.Owner, Fence: v.Record.Token, Until: time.UnixMicro(v.Record.Expiry)}
		if n.Fence == 0 {
			n.Reason = ReasonOffered
		}
		return n
	case v.Foreign() && (v.Live() || v.Record.Owner == "" || v.Plain != v.Record.Owner):
		n := NodeAnswer{Reason: ReasonHeld, Foreign: true, Owner: v.Plain}
		if v.Left != nodescript.Forever {
			n.Until = time.UnixMicro(v.Time).Add(v.Left)
		}
		return n
	}
	return NodeAnswer{Reason: ReasonFree}
}

// Nodes asks every node for its vote, as a lock would. It returns the state of each node, in the order of
// [Config.Nodes]. This call starts the quarantine of a node that no client has met before.
func (c *Client) Nodes(ctx context.Context) []NodeAnswer {
	return c.standings(c.fan.Hail(ctx))
}

// unavailable returns the error of a call that had no quorum.
func (c *Client) unavailable(name string, nodes []NodeAnswer) *UnavailableError {
	e := &UnavailableError{Name: name, Nodes: nodes}
	if slices.ContainsFunc(nodes, func(n NodeAnswer) bool { return n.Reason == ReasonMisconfigured }) {
		e.trust = c.trustCommand()
	}
	return e
}

// trustCommand vouches for the nodes with this client's configuration. It does not name the nodes: their URLs may contain
// users and passwords, which the client does not know.
func (c *Client) trustCommand() string {
	command := fmt.Sprintf("holdfast nodes trust --max-ttl %s --window %s --cluster %s", c.config.MaxTTL, c.config.Window, c.config.Cluster)
	if c.config.Durable {
		command += " --durable"
	}
	return command + " (with the same nodes)"
}

// Trust leaves an operator's voucher on the nodes. The voucher states that no lock is alive on them, for example
// because they are new. They then vote after 9 × Window instead of MaxTTL + Window. Trust returns the state of each
// node afterwards.
//
// Trust also gives this client's configuration to the nodes. From then on the nodes refuse clients with another
// configuration, and these lose their locks. After a false voucher two owners can hold one lock.
//
// seen is the result of [Client.Nodes] at the time when the operator decided. A node that has lost its memory since
// then gets no voucher, because a lock may have been alive when it did. Without seen, Trust vouches for the state that
// it finds.
func (c *Client) Trust(ctx context.Context, seen ...NodeAnswer) []NodeAnswer {
	losses := map[string]string{}
	for _, s := range seen {
		losses[s.Node] = s.Loss
	}
	errs := c.fan.Trust(ctx, func(i int, loss string) bool {
		was, known := losses[c.fan.Addr(i)]
		return len(seen) == 0 || known && was == loss
	})
	s := c.standings(c.fan.Hail(ctx))
	for i, err := range errs {
		if err != nil && !s[i].Votes() {
			s[i].failed(err)
		}
	}
	return s
}

func (c *Client) standings(answers []nodescript.Answer) []NodeAnswer {
	out := make([]NodeAnswer, len(answers))
	for i, a := range answers {
		offset, known := c.fan.Offset(i)
		n := c.answer(i, a, offset)
		if n.Reason == ReasonDone {
			n.Reason = ReasonVotes
		}
		n.OffsetKnown = known
		n.RunID, n.Version = c.fan.Incarnation(i)
		n.Loss = c.fan.Loss(i)
		out[i] = n
	}
	return out
}

// told logs when a node stops voting, when the reason changes, and when the node votes again.
func (c *Client) told(i int, a nodescript.Answer, offset time.Duration) {
	n := c.answer(i, a, offset)
	level, message := slog.LevelWarn, "node does not vote"
	attrs := n.attrs()
	switch {
	case n.Reason == ReasonDone:
		level, message, attrs = slog.LevelInfo, "node votes again", []slog.Attr{slog.String("node", n.Node)}
	case n.VotesIn > 0:
		message += " for another " + forPeople(n.VotesIn)
	}
	c.config.Logger.LogAttrs(context.Background(), level, message, attrs...)
}
