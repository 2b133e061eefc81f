package redisson

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// attempt is one try to take a lock, under a field of its own. So a late release of one attempt frees no other one, and
// two goroutines exclude each other as two threads of a Java process do.
type attempt struct {
	client *Client
	name   string
	keys   keys // with the latch of this attempt
	field  string
	sent   clock.Instant // before the first request was sent

	mu      sync.Mutex
	answers []answer        // of acquire; silent without an error: none yet
	arrived []chan struct{} // closed with the answer of each node
}

func (c *Client) newAttempt(name string) *attempt {
	a := &attempt{client: c, name: name, keys: keysOf(c.config.MapName(name)), answers: make([]answer, len(c.config.Nodes))}
	for range c.config.Nodes {
		a.arrived = append(a.arrived, make(chan struct{}))
	}
	a.field = c.id + ":" + strconv.FormatInt(c.threads.Add(1), 10)
	var id [16]byte // as generateId of Redisson's ServiceManager
	_, _ = rand.Read(id[:])
	a.keys.latch += ":" + hex.EncodeToString(id[:])
	return a
}

// bid asks all nodes for the lock. It returns a hold if a majority granted in time. Otherwise it takes back what it has
// got, in the background, and returns the reason. If ctx ends first, it does the same.
func (c *Client) bid(ctx context.Context, name string) (*hold, error) {
	a := c.newAttempt(name)
	tokens := "present"
	switch {
	case len(c.config.Nodes) > 1:
		tokens = "never" // each node has its own number: a majority of them is no token
	case c.config.Fenced:
		tokens = "always"
	}
	a.sent = c.now()
	call := acquireScript.call([]string{a.keys.name, a.keys.token, a.keys.latch}, a.field, millis(c.config.TTL), tokens)
	answers := c.ask(acquireScript, func(int) node.Call { return call })
	yes, no, failed := 0, 0, 0
	var token int64
	for range c.config.Nodes {
		select {
		case s := <-answers:
			a.note(s)
			switch s.verdict {
			case granted:
				yes++
				token = s.token
			case silent:
				failed++
			default:
				no++
			}
		case <-ctx.Done():
			c.background(func() { a.undo(answers) })
			return nil, ending.Cause(ctx)
		}
		if yes >= c.quorum {
			h := newHold(a, token)
			if h == nil { // the answers came too late to rely on them
				c.background(func() { a.undo(answers) })
				return nil, &UnavailableError{Name: name, Nodes: c.texts(a.said())}
			}
			c.background(func() { a.rest(answers) })
			return h, nil
		}
		if spare := len(c.config.Nodes) - c.quorum; no > spare || failed > spare {
			break
		}
	}
	err := a.refusal()
	c.background(func() { a.undo(answers) })
	return nil, err
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (a *attempt) note(s said) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[s.node] = s.answer
	close(a.arrived[s.node])
}

// said returns a copy of the answers so far.
func (a *attempt) said() []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.answers)
}

// missing returns the number of nodes without an answer.
func (a *attempt) missing() (n int) {
	for _, s := range a.said() {
		if s.verdict == silent && s.err == nil {
			n++
		}
	}
	return n
}

// rest notes the answers that are still missing.
func (a *attempt) rest(answers <-chan said) {
	for range a.missing() {
		a.note(<-answers)
	}
}

// undo takes back what the nodes have granted, and what they may have granted.
func (a *attempt) undo(answers <-chan said) {
	for i := range a.answers {
		a.client.background(func() {
			if s := a.answered(i); s.verdict == granted || a.doubtful(s) {
				a.freeNode(i, nil)
			}
		})
	}
	a.rest(answers)
}

// answered returns a node's answer to acquire. It waits for it, for NodeTimeout at most.
func (a *attempt) answered(i int) answer {
	<-a.arrived[i]
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers[i]
}

// doubtful reports whether the acquire of this answer may have been executed, or may still come.
func (a *attempt) doubtful(s answer) bool { return s.verdict == silent && !node.Unsent(s.err) }

// freeNode releases the attempt on one node. It repeats the request until the node answers or the lock has expired. The
// first answer goes to first. If a request of the attempt may still come, the release leaves a latch that refuses it.
func (a *attempt) freeNode(i int, first chan<- said) {
	c := a.client
	latch := time.Duration(0)
	if a.doubtful(a.answered(i)) {
		latch = c.config.TTL
	}
	until := c.now().Add(c.config.TTL)
	pause := 20 * time.Millisecond
	for {
		call := releaseScript.call([]string{a.keys.name, a.keys.latch}, a.field, c.publish(), a.keys.channel, millis(latch))
		s := c.askOne(i, releaseScript, call)
		if first != nil {
			first <- said{i, s}
			first = nil
		}
		if s.verdict == done || s.verdict == gone || c.now().Sub(until) > 0 || !c.pause(pause) {
			return
		}
		pause = min(2*pause, time.Second)
	}
}

func (c *Client) publish() string {
	if c.config.Sharded {
		return "SPUBLISH"
	}
	return "PUBLISH"
}

// refusal returns the reason why the attempt failed.
func (a *attempt) refusal() error {
	c := a.client
	answers := a.said()
	free := make([]time.Duration, 0, len(answers)) // when each node that answered becomes free
	never := false                                 // a node has a key without expiry
	holders := map[string]int{}
	var top, kind *answer
	open, failed := 0, 0
	for i := range answers {
		s := &answers[i]
		switch s.verdict {
		case granted:
			free = append(free, 0)
		case held:
			if s.left < 0 {
				never = true
			} else {
				free = append(free, s.left)
			}
			if holders[s.holder]++; top == nil || holders[s.holder] > holders[top.holder] {
				top = s
			}
		case otherKind:
			kind = s
		case silent:
			if s.err == nil {
				open++
			} else {
				failed++
			}
		}
	}
	switch {
	case failed > len(answers)-c.quorum: // the others may say what they like
		return &UnavailableError{Name: a.name, Nodes: c.texts(answers)}
	case top != nil:
	case kind != nil:
		return &KindError{Name: a.name, Key: a.keys.name, Type: kind.kind, Value: kind.value, ExpiresIn: kind.left}
	default:
		return &UnavailableError{Name: a.name, Nodes: c.texts(answers)}
	}
	e := &HeldError{Name: a.name, Holder: top.holder, Count: top.count, Mode: top.mode, own: strings.HasPrefix(top.holder, c.id+":")}
	e.split = holders[top.holder]+open < c.quorum
	slices.Sort(free)
	switch {
	case len(free) >= c.quorum:
		e.ExpiresIn = free[c.quorum-1]
	case never:
		e.ExpiresIn = -1
	case len(free) > 0:
		e.ExpiresIn = free[len(free)-1]
	}
	return e
}

// checkName returns the reason why name cannot be locked, or nil.
func (c *Client) checkName(name string) error {
	key := ""
	if name != "" {
		key = c.config.MapName(name)
	}
	switch {
	case name == "":
		return fmt.Errorf("%w: the name is empty", holdfast.ErrBadName)
	case key == "":
		return fmt.Errorf("%w: MapName makes an empty key of %q", holdfast.ErrBadName, name)
	case len(key) > 64<<10:
		return fmt.Errorf("%w: the key has %d bytes; it must have at most 65536", holdfast.ErrBadName, len(key))
	}
	return nil
}
