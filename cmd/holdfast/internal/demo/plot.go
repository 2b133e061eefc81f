package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// plot performs the sequence of faults. Node numbers in the code start at 0, and those in the output at 1.
func (d *demo) plot(ctx context.Context, dir string) error {
	if err := d.await(ctx, 0, 1, 2, 3, 4); err != nil {
		return err
	}
	d.state.say("five nodes vote")
	began := time.Now()
	at := func(t time.Duration) error { return clock.Rest(ctx, time.Until(began.Add(t))) }
	for i := range workers {
		if err := d.hire(i, dir); err != nil {
			return err
		}
	}
	steps := []struct {
		at time.Duration
		do func() error
	}{
		{1500 * time.Millisecond, func() error { return d.down(1) }},
		{2 * time.Second, func() error { return d.down(3) }},
		{3 * time.Second, func() error { return d.killHolder(ctx, dir) }},
		{6 * time.Second, func() error { return d.up(1) }},
		{6 * time.Second, func() error { return d.up(3) }},
		{8 * time.Second, func() error { return d.await(ctx, 1, 3) }},
		// From this time on, a lock needs the two nodes that were restarted.
		{9 * time.Second, func() error { return d.down(0) }},
		{9 * time.Second, func() error { return d.down(4) }},
		{10500 * time.Millisecond, func() error { return d.freezeHolder(ctx) }},
		{withLock - 1500*time.Millisecond, func() error { return d.up(0) }},
		{withLock, func() error { d.state.say("the workers finish"); return nil }},
	}
	for _, s := range steps {
		if err := at(s.at); err != nil {
			return err
		}
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}

// down kills a node.
func (d *demo) down(i int) error {
	d.mu.Lock()
	a := d.nodes[i]
	d.nodes[i] = nil
	d.mu.Unlock()
	a.kill()
	d.state.node(i, "killed")
	d.state.say("node %d killed", i+1)
	return nil
}

// up restarts a node, without its data.
func (d *demo) up(i int) error {
	d.watchFor(i, time.Now().Add(ttl))
	a, err := d.cast.node(d.addrs[i], true)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.nodes[i] = a
	d.mu.Unlock()
	d.state.say("node %d is back, empty; it does not vote until every lock that it may have forgotten has ended", i+1)
	return nil
}

// holder waits until a worker has read the number under the lock, and returns that worker. The worker may leave at any
// moment.
func (d *demo) holder(ctx context.Context) (int, *actor, error) {
	select {
	case i := <-d.state.entry:
		d.mu.Lock()
		defer d.mu.Unlock()
		return i, d.workers[i], nil
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	case <-time.After(patience):
		return 0, nil, fmt.Errorf("nobody has got the lock for %s", patience)
	}
}

// killHolder kills a worker that holds the lock, and starts a new worker in its place.
func (d *demo) killHolder(ctx context.Context, dir string) error {
	i, token, err := d.killInside(ctx, dir)
	if err != nil {
		return err
	}
	if err := d.journal.note(record{what: killed, at: monotonic(), worker: i, token: token}); err != nil {
		return err
	}
	d.state.worker(i, "killed")
	d.state.say("worker %d killed while it held the lock (SIGKILL)", i+1)
	since := time.Now()
	next, _, err := d.holder(ctx)
	if err != nil {
		return err
	}
	d.state.say("worker %d has the lock %.1fs later, after the lock of the dead worker ended", next+1, time.Since(since).Seconds())
	return d.hire(i, dir)
}

// killInside kills workers until one of them held the lock when it died.
func (d *demo) killInside(ctx context.Context, dir string) (worker int, token int64, err error) {
	for range 50 {
		i, a, err := d.holder(ctx)
		if err != nil {
			return 0, 0, err
		}
		a.kill() // after kill, all output of the worker has been read
		if token, ok := d.state.working(i); ok {
			return i, token, nil
		}
		if err := d.hire(i, dir); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, errors.New("no holder could be killed in time")
}

// freezeHolder freezes a worker between its read and its write. It continues the worker when the worker's lease has
// ended and other workers have written.
func (d *demo) freezeHolder(ctx context.Context) error {
	var i int
	var a *actor
	var token int64
	for tries := 0; ; tries++ {
		var err error
		if i, a, err = d.holder(ctx); err != nil {
			return err
		}
		if err := freeze(a.cmd.Process); err != nil {
			return err
		}
		at := monotonic()
		time.Sleep(50 * time.Millisecond) // gives the demo time to read the output of the worker
		var ok bool
		if token, ok = d.state.working(i); ok {
			if err := d.journal.note(record{what: froze, at: at, worker: i, token: token}); err != nil {
				return err
			}
			break
		}
		if err := thaw(a.cmd.Process); err != nil { // the worker was already writing when it was frozen
			return err
		}
		if tries == 50 {
			return errors.New("no holder could be frozen in time")
		}
	}
	d.state.worker(i, "frozen")
	d.state.say("worker %d frozen between its read and its write (SIGSTOP)", i+1)
	since := time.Now()
	next, _, err := d.holder(ctx)
	if err != nil {
		return err
	}
	d.state.say("worker %d has the lock %.1fs later; the frozen worker does not know it", next+1, time.Since(since).Seconds())
	if err := clock.Rest(ctx, time.Second); err != nil {
		return err
	}
	d.state.say("worker %d wakes up (SIGCONT)", i+1)
	d.state.worker(i, waits)
	return thaw(a.cmd.Process)
}
