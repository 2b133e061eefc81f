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
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

const clientArg = "__chaos-client"

// BeClient makes this process a client if it was started as one, and then does not return.
// Programs that call [Run] begin with it; more adds lockers to those of this module.
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

// client is a role being played.
type client struct {
	Role
	locker Locker
	say    *teller
	open   register
	guard  register
}

// play lasts until standard input ends.
func (r Role) play(t *teller, open Open) error {
	if open == nil {
		return fmt.Errorf("no locker is called %q", r.Locker)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	l, err := open(r)
	for err != nil {
		if r.Misfit != "" { // refused before it asked anybody
			t.tell(Event{What: tried, Name: r.Misfit})
			return nil
		}
		// Some locks want their server to be there when they are made.
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
	// Never twice: a repeated write would not be what the client meant.
	res := redis.NewClient(&redis.Options{Addr: r.Resource, MaxRetries: -1})
	defer res.Close()
	c := &client{Role: r, locker: l, say: t, open: register{res, open_}, guard: register{res, guarded}}
	var wait sync.WaitGroup
	errs := make([]error, r.Loops)
	for i := range r.Loops {
		wait.Go(func() { errs[i] = c.loop(ctx, i) })
	}
	wait.Wait()
	t.tell(Event{What: notes})
	return errors.Join(errs...)
}

func (c *client) loop(ctx context.Context, loop int) error {
	for n := int64(1); ctx.Err() == nil; n++ {
		e := Event{Loop: loop, Lease: n, Name: c.Names[rand.N(len(c.Names))]}
		e.What = wants
		c.say.tell(e)
		held, err := c.lock(ctx, e.Name)
		if err != nil {
			return nil // told to end
		}
		if err := c.hold(ctx, e, held); err != nil {
			return err
		}
		time.Sleep(rand.N(20 * time.Millisecond))
	}
	return nil
}

// lock asks until it gets the lock or is told to end.
func (c *client) lock(ctx context.Context, name string) (Held, error) {
	for {
		held, err := c.locker.Lock(ctx, name)
		if err == nil {
			return held, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.say.note("lock: failed")
		time.Sleep(20*time.Millisecond + rand.N(50*time.Millisecond))
	}
}

// work is how long a holder works: mostly a moment, sometimes so long that its lease must be renewed.
func (c *client) work() time.Duration {
	switch n := rand.N(100); {
	case n < 96:
		return 2*time.Millisecond + rand.N(15*time.Millisecond)
	case n < 99:
		return rand.N(c.TTL / 2)
	}
	return rand.N(2 * c.TTL)
}

// hold is a lease from its first instant to its end. It says that it is over before it unlocks: whoever is
// killed in between believed at most as long as was said.
func (c *client) hold(ctx context.Context, e Event, held Held) error {
	e.Token = held.Token()
	deadline := func() int64 {
		if held.Deadline().IsZero() {
			return 0
		}
		return onMonotonic(held.Deadline)
	}
	say := func(w what, at int64) {
		e.What, e.At, e.Deadline = w, at, deadline()
		c.say.tell(e)
	}
	say(has, Monotonic())
	var ended int64 // when it was told of its loss
	told := make(chan struct{})
	given := make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-held.Done():
			ended = Monotonic()
		case <-given:
		}
	}()
	err := c.change(ctx, &e, held, func() { say(keeps, 0) })
	close(given)
	<-told
	if e.Lost = ended != 0; !e.Lost {
		ended = Monotonic()
	}
	say(over, ended)
	// ctx may be over; the lock is given back all the same.
	bounded, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if e := held.Unlock(bounded); e != nil {
		c.say.note("unlock: failed")
	}
	return err
}

// change changes what the lock protects, and notes in e what became of it. Errors are those of resources.
func (c *client) change(ctx context.Context, e *Event, held Held, keeps func()) error {
	ctx = context.WithoutCancel(ctx)
	e.Element = fmt.Sprintf("%d.%d.%d", c.Client, e.Loop, e.Lease)
	file := newCounterFile(c.Dir, e.Name)
	var last [2]string
	var number int64
	resources := []struct {
		name        string
		read, write func() error
	}{
		{guarded, func() (err error) { last[0], err = c.guard.read(ctx, e.Name, e.Token); return },
			func() error { return c.guard.write(ctx, e.Name, e.Token, e.Element, last[0]) }},
		{open_, func() (err error) { last[1], err = c.open.read(ctx, e.Name, 0); return },
			func() error { return c.open.write(ctx, e.Name, 0, e.Element, last[1]) }},
		{counter, func() (err error) { number, err = file.read(e.Token); return },
			func() error { return file.write(e.Token, number+1) }},
	}
	if e.Token == 0 {
		resources = resources[1:] // nothing to show
	}
	refused := map[string]bool{}
	for _, r := range resources {
		switch err := r.read(); {
		case errors.Is(err, errOldToken):
			refused[r.name] = true
		case err != nil:
			c.say.note("resource: " + r.name + " not read")
			return nil // without a look at what is there, nothing may be written
		}
	}
	c.sleep(held, keeps)
	// The last look. Between it and the write a process may be stopped for any time, and
	// no lock can help that.
	if !believes(held) {
		for _, r := range resources {
			refused[r.name] = refused[r.name] || e.Token != 0
		}
		c.say.note("work: given up, the lease is over")
		return nil
	}
	if c.Pause > 0 && rand.N(c.Pause) == 0 {
		c.say.tell(Event{What: stops, Name: e.Name})
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Millisecond) // stopping takes effect on all threads
	}
	for _, r := range resources {
		if refused[r.name] {
			e.Refused = append(e.Refused, r.name)
			continue
		}
		switch err := r.write(); {
		case err == nil:
			e.Acked = append(e.Acked, r.name)
		case errors.Is(err, errOldToken):
			e.Refused = append(e.Refused, r.name)
		default:
			c.say.note("resource: " + r.name + " not answered")
		}
	}
	return nil
}

// sleep is the work. It tells when the deadline has moved, and ends with the lease.
func (c *client) sleep(held Held, keeps func()) {
	timer := time.NewTimer(c.work())
	defer timer.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for before := held.Deadline(); ; {
		select {
		case <-held.Done():
			return
		case <-timer.C:
			return
		case <-tick.C:
			if now := held.Deadline(); now.Sub(before) > 20*time.Millisecond {
				before = now
				keeps()
			}
		}
	}
}

func believes(held Held) bool {
	select {
	case <-held.Done():
		return false
	default:
		return held.Deadline().IsZero() || time.Now().Before(held.Deadline())
	}
}

// intrude tries to get a lock for as long as it may. Getting one is the failure.
func (r Role) intrude(ctx context.Context, t *teller, l Locker) error {
	h, ok := l.(*holdfastLocker)
	if !ok {
		return fmt.Errorf("%q has no notion of a client that must be refused", r.Locker)
	}
	for n := 0; ctx.Err() == nil; n++ {
		for _, name := range []string{r.Names[rand.N(len(r.Names))], fmt.Sprintf("intruder-%d", n)} {
			err := h.try(ctx, name)
			t.tell(Event{What: map[bool]what{true: has, false: tried}[err == nil], Name: r.Misfit})
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
