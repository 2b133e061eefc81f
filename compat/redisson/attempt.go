package redisson

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/ending"
	"github.com/holdfast-go/holdfast/node"
)

// attempt is one try to take a lock. Each attempt has its own field in the hash. So a late release of one attempt
// cannot release another one, and two goroutines exclude each other as two threads of a Java process do.
type attempt struct {
	client *Client
	want
	keys  keys // the latch belongs to this attempt only
	field string
	sent  clock.Instant // time just before the first request

	mu      sync.Mutex
	answers []answer        // answers to acquire; silent without an error: there is none yet
	arrived []chan struct{} // by node: closed when its answer has come
}

// want is what a caller wants to have.
type want struct {
	name   string // before MapName
	key    string // after MapName
	shared bool   // as a reader
}

// mode returns the value of the field mode in the hash.
func (w want) mode() string {
	if w.shared {
		return "read"
	}
	return "write"
}

func (c *Client) newAttempt(w want) *attempt {
	a := &attempt{client: c, want: w, keys: keysOf(w.key), answers: make([]answer, len(c.config.Nodes))}
	for range c.config.Nodes {
		a.arrived = append(a.arrived, make(chan struct{}))
	}
	a.field = c.id + ":" + strconv.FormatInt(c.threads.Add(1), 10)
	var id [16]byte // in the form of generateId in Redisson's ServiceManager
	_, _ = rand.Read(id[:])
	a.keys.latch += ":" + hex.EncodeToString(id[:])
	a.keys.reader = a.keys.readers + ":" + a.field + ":rwlock_timeout"
	return a
}

// bid asks all nodes for the lock. If a majority grants it in time, bid returns a hold. Otherwise, and if ctx ends
// first, bid returns the reason. It then releases in the background what the nodes granted.
func (c *Client) bid(ctx context.Context, w want) (h *hold, err error) {
	c.tasks.Do(func() { h, err = c.newAttempt(w).run(ctx) }) // Close waits until a grant is held or given back
	return h, err
}

func (a *attempt) run(ctx context.Context) (*hold, error) {
	c := a.client
	tokens := "present"
	switch {
	case a.shared, len(c.config.Nodes) > 1:
		tokens = "never" // a reader of Java takes none; with several nodes, each has its own number
	case c.config.Fenced:
		tokens = "always"
	}
	a.sent = c.now()
	call := acquireScript.Call([]string{a.keys.name, a.keys.token, a.keys.latch, a.keys.reader},
		a.field, millis(c.config.TTL), tokens, a.mode())
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
			c.tasks.Go(func() { a.undo(answers) })
			return nil, ending.Cause(ctx)
		}
		if yes >= c.quorum {
			h := newHold(a, token)
			if h == nil { // the answers came so late that the hold would already be over
				c.tasks.Go(func() { a.undo(answers) })
				return nil, &UnavailableError{Name: a.name, Nodes: c.texts(a.said())}
			}
			c.tasks.Go(func() { a.rest(answers) })
			return h, nil
		}
		if spare := len(c.config.Nodes) - c.quorum; no > spare || failed > spare {
			break
		}
	}
	err := a.refusal()
	c.tasks.Go(func() { a.undo(answers) })
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

// missing returns the number of nodes that have not answered yet.
func (a *attempt) missing() (n int) {
	for _, s := range a.said() {
		if s.verdict == silent && s.err == nil {
			n++
		}
	}
	return n
}

// rest stores the answers that are still missing.
func (a *attempt) rest(answers <-chan said) {
	for range a.missing() {
		a.note(<-answers)
	}
}

// undo releases the lock on all nodes that granted it, or may have granted it.
func (a *attempt) undo(answers <-chan said) {
	for i := range a.answers {
		a.client.tasks.Go(func() {
			if s := a.answered(i); s.verdict == granted || a.doubtful(s) {
				a.freeNode(i, nil, a.client.config.TTL)
			}
		})
	}
	a.rest(answers)
}

// answered returns a node's answer to acquire. It waits for this answer, for NodeTimeout at most.
func (a *attempt) answered(i int) answer {
	<-a.arrived[i]
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answers[i]
}

// doubtful reports whether the acquire of this answer may have been executed, or may still reach the node.
func (a *attempt) doubtful(s answer) bool { return s.verdict == silent && !node.Unsent(s.err) }

// freeNode releases the attempt on one node. It repeats the release until the node answers or the lock has expired.
// It sends the first result to first. If the acquire may still reach the node, the release stores a latch. Without
// the latch, a late acquire would take the lock again, and nobody would release it.
func (a *attempt) freeNode(i int, first chan<- said, lasts time.Duration) {
	c := a.client
	latch := time.Duration(0)
	if a.doubtful(a.answered(i)) {
		latch = c.config.TTL
	}
	until := c.now().Add(lasts)
	pause := 20 * time.Millisecond
	for {
		call := releaseScript.Call([]string{a.keys.name, a.keys.latch, a.keys.reader, a.keys.queue, a.keys.queueEnds},
			a.field, c.publish(), a.keys.channel, a.keys.rwChannel, millis(latch), a.mode(),
			strconv.FormatInt(time.Now().UnixMilli(), 10), a.keys.readers)
		s := c.askOne(i, releaseScript, call)
		if first != nil {
			first <- said{i, s}
			first = nil
		}
		if s.verdict == done || s.verdict == gone || c.now().Sub(until) > 0 || !c.tasks.Pause(pause) {
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

// refusal returns the error of a failed attempt.
func (a *attempt) refusal() error {
	c := a.client
	answers := a.said()
	free := make([]time.Duration, 0, len(answers)) // for each node that answered, the time until it is free
	never := false                                 // true if the key has no expiry on some node
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
			if holders[s.who()]++; top == nil || holders[s.who()] > holders[top.who()] {
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
	case failed > len(answers)-c.quorum: // so many nodes failed that the answers of the others do not decide
		return &UnavailableError{Name: a.name, Nodes: c.texts(answers)}
	case top != nil:
	case kind != nil:
		return &KindError{Name: a.name, Key: a.keys.name, Type: kind.kind, Value: kind.value, ExpiresIn: kind.left}
	default:
		return &UnavailableError{Name: a.name, Nodes: c.texts(answers)}
	}
	e := &HeldError{Name: a.name, Holder: top.holder, Count: top.count, Mode: top.mode}
	e.own = strings.HasPrefix(top.holder, c.id+":") && top.mode != "read"
	e.split = holders[top.who()]+open < c.quorum
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
