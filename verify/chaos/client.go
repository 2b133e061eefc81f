//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const clientArg = "__chaos-client"

// BeClient makes this process a client if it was started as a client, and then does not return. Programs that call
// [Run] must call BeClient first. more adds lockers to the lockers of this module.
func BeClient(more map[string]Open) {
	if len(os.Args) != 3 || os.Args[1] != clientArg {
		return
	}
	t := &teller{}
	r := Role{note: t.note}
	if err := json.Unmarshal([]byte(os.Args[2]), &r); err != nil {
		t.tell(Event{What: fault, Name: err.Error()})
		os.Exit(1)
	}
	all := maps.Clone(lockers)
	maps.Copy(all, more)
	if err := r.play(t, all[r.Locker]); err != nil {
		t.tell(Event{What: fault, Name: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// client is a running role.
type client struct {
	Role
	locker Locker
	say    *teller
	open   register
	guard  register
}

// play runs until standard input ends. The first byte on standard input ends the loops. The end of standard input
// closes the locker.
func (r Role) play(t *teller, open Open) error {
	if open == nil {
		return fmt.Errorf("no locker is called %q", r.Locker)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	closing := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(closing)
	}()
	l, err := open(r)
	for err != nil {
		if r.Misfit != "" { // the nodes must refuse this client
			return err
		}
		// Some locks need their server when a client opens them.
		r.note("open: failed")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
		l, err = open(r)
	}
	defer l.Close()
	if r.Misfit != "" {
		return r.intrude(ctx, t, l)
	}
	// This Redis client never retries, because a repeated write would not be the intended write.
	res := redis.NewClient(&redis.Options{Addr: r.Resource, MaxRetries: -1})
	defer res.Close()
	c := &client{Role: r, locker: l, say: t, open: register{res, open_}, guard: register{res, guarded}}
	var wait sync.WaitGroup
	go t.pulse(closing)
	errs := make([]error, r.Loops)
	for i := range r.Loops {
		wait.Go(func() { errs[i] = c.loop(ctx, i) })
	}
	wait.Wait()
	t.tell(Event{What: idle})
	<-closing
	return errors.Join(errs...)
}

func (c *client) loop(ctx context.Context, loop int) error {
	n := int64(1)
	for ; ctx.Err() == nil; n++ {
		e := c.want(loop, n)
		held, err := c.lock(ctx, e)
		if err != nil {
			break // the loop was told to end
		}
		if c.Busy > 0 {
			c.holdBusy(e, held)
			continue
		}
		use := func(e *Event, keeps func()) error { return c.change(ctx, e, held, keeps) }
		if shared(held) { // a reader changes nothing
			use = func(_ *Event, keeps func()) error { c.sleep(held, keeps); return nil }
		}
		if err := c.hold(e, held, use); err != nil {
			return err
		}
		time.Sleep(rand.N(20 * time.Millisecond))
	}
	if !c.Parts {
		return nil
	}
	return c.part(loop, n)
}

// want reports the nth wish of a loop, for a random name. It returns the event.
func (c *client) want(loop int, n int64) Event {
	e := Event{What: wants, Loop: loop, Lease: n, Name: c.Names[rand.N(len(c.Names))]}
	c.say.tell(e)
	return e
}

// lock asks until it gets the lock or the client is told to end.
func (c *client) lock(ctx context.Context, e Event) (Held, error) {
	for {
		held, err := c.locker.Lock(ctx, e.Name)
		if err == nil {
			return held, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.say.note("lock: failed")
		time.Sleep(20*time.Millisecond + rand.N(50*time.Millisecond))
		if c.Asks {
			c.say.tell(Event{What: asks, Loop: e.Loop, Lease: e.Lease, Name: e.Name})
		}
	}
}

// intrude tries to get a lock until the client is told to end. If it gets a lock, the check has failed.
func (r Role) intrude(ctx context.Context, t *teller, l Locker) error {
	h, ok := l.(interface {
		intrude(ctx context.Context, name string) what
	})
	if !ok {
		return fmt.Errorf("%q has no notion of a client that must be refused", r.Locker)
	}
	for n := 0; ctx.Err() == nil; n++ {
		for _, name := range []string{r.Names[rand.N(len(r.Names))], fmt.Sprintf("intruder-%d", n)} {
			t.tell(Event{What: h.intrude(ctx, name), Name: r.Misfit})
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
