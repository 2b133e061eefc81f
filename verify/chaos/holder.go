//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// This file contains the actions of a client that holds a lock.

// ofSets is added to the number of a loop for the other names of a set. So each name of a set is reported under its own
// number.
const ofSets = 1000

// work returns the time for which a holder works. It is mostly short, and sometimes so long that the lease must be
// renewed.
func (c *client) work() time.Duration {
	switch n := rand.N(100); {
	case c.Long > 0 && n < c.Long:
		return rand.N(2 * c.TTL)
	case n < 96:
		return 2*time.Millisecond + rand.N(15*time.Millisecond)
	case n < 99:
		return rand.N(c.TTL / 2)
	}
	return rand.N(2 * c.TTL)
}

// hold runs use during a lease, from its first instant to its end. It reports the end before it unlocks. So if the
// client is killed in between, it relied on the lock for no longer than it reported.
func (c *client) hold(e Event, held Held, use func(e *Event, keeps func()) error) error {
	e.Token, e.Shared = held.Token(), shared(held)
	deadline := func() int64 {
		if held.Deadline().IsZero() {
			return 0
		}
		return onMonotonic(held.Deadline)
	}
	names := []string{e.Name}
	if n, ok := held.(named); ok {
		names = n.Names()
		e.Name = names[0]
	}
	say := func(w what, at int64) {
		e.What, e.At, e.Deadline = w, at, deadline()
		c.say.tell(e)
		for i, name := range names[1:] { // each name of a set is a lock of its own for the judges
			also := Event{What: w, At: at, Deadline: e.Deadline, Lost: e.Lost, Loop: e.Loop + (i+1)*ofSets, Lease: e.Lease, Name: name}
			also.Token = held.(heldSet).TokenOf(name)
			c.say.tell(also)
		}
	}
	say(has, Monotonic())
	var ended int64 // when the client learned of its loss
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
	err := use(&e, func() { say(keeps, 0) })
	close(given)
	<-told
	if e.Lost = ended != 0; !e.Lost {
		ended = Monotonic()
	}
	say(over, ended)
	// The loop may have been told to end. It releases the lock anyway.
	bounded, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if e := held.Unlock(bounded); e != nil {
		c.say.note("unlock: failed")
	}
	return err
}

// change changes the data under the lock, and notes the result in e. It returns only errors of the resources.
func (c *client) change(ctx context.Context, e *Event, held Held, keeps func()) error {
	ctx = context.WithoutCancel(ctx)
	e.Element = fmt.Sprintf("%d.%d.%d", c.Client, e.Loop, e.Lease)
	file := newCounterFile(c.Dir, e.Name)
	var last [2]string
	var was count
	resources := []struct {
		name        string
		read, write func() error
	}{
		{guarded, func() (err error) { last[0], err = c.guard.read(ctx, e.Name, e.Token); return },
			func() error { return c.guard.write(ctx, e.Name, e.Token, e.Element, last[0]) }},
		{open_, func() (err error) { last[1], err = c.open.read(ctx, e.Name, 0); return },
			func() error { return c.open.write(ctx, e.Name, 0, e.Element, last[1]) }},
		{counter, func() (err error) { was, err = file.read(e.Token); return },
			func() error { return file.write(e.Token, e.Element, was) }},
	}
	if e.Token == 0 {
		resources = resources[1:] // a lock without tokens cannot use the guarded resource
	}
	refused := map[string]bool{}
	for _, r := range resources {
		switch err := r.read(); {
		case errors.Is(err, errOldToken):
			refused[r.name] = true
		case err != nil:
			c.say.note("resource: " + r.name + " not read")
			return nil // without a read, the client may not write
		}
	}
	if r, ok := held.(Renewer); ok && rand.N(10) == 0 {
		bounded, stop := context.WithTimeout(ctx, 100*time.Millisecond) // no report comes during this time
		if err := r.Renew(bounded); err != nil {
			c.say.note("extend: failed")
		}
		stop()
		keeps()
	}
	c.sleep(held, keeps)
	// This is the last check of the lease. The process may be stopped for any time between this check and the write,
	// and no lock can prevent the damage.
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
		time.Sleep(time.Millisecond) // the stop takes effect on all threads
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

// sleep is the holder's work. It reports each move of the deadline, and ends with the lease.
func (c *client) sleep(held Held, keeps func()) {
	work := c.work()
	if b, ok := held.(brief); ok {
		work = b.Work()
	}
	timer := time.NewTimer(work)
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

// shared reports whether other readers may have the lock too.
func shared(held Held) bool {
	s, ok := held.(interface{ Shared() bool })
	return ok && s.Shared()
}

func believes(held Held) bool {
	select {
	case <-held.Done():
		return false
	default:
		return held.Deadline().IsZero() || time.Now().Before(held.Deadline())
	}
}
