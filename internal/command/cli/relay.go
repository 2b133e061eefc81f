package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// relay runs clients that take turns on one name. Each turn uses another client, because a lock is passed inside the
// process within one client. So each hand-off goes over the nodes.
//
// A holder releases the lock only when another client waits in the queue. Otherwise the lock would often be free before
// the other client asks, and the bench would measure a plain lock.
type relay struct {
	clients int
	took    time.Duration   // time from the first counted hand-off to the last
	handed  []time.Duration // time from one client's call of Unlock to another client's return of Lock

	mu       sync.Mutex
	refused  []time.Time // by client: instant since which it waits; zero: it does not wait
	arrived  chan struct{}
	first    time.Time // begin of the first counted hand-off
	released time.Time // instant of the last call of Unlock
	by       int       // client of that call
}

func newRelay(clients int) *relay {
	return &relay{clients: clients, refused: make([]time.Time, clients), arrived: make(chan struct{}, 1), by: -1}
}

// run makes the clients take turns on name for d. The first error ends all clients.
func (r *relay) run(ctx context.Context, clients []*holdfast.Client, name string, d time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, done := newStretch(ctx, d)
	defer done()
	errs := make([]error, len(clients))
	var wait sync.WaitGroup
	for i, client := range clients {
		m := client.Mutex(name, holdfast.OnWait(func(err error) {
			if errors.Is(err, holdfast.ErrHeld) {
				r.stands(i)
			}
		}))
		wait.Go(func() {
			if errs[i] = r.turns(s, i, m); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	return worst(errs)
}

func (r *relay) turns(s stretch, client int, m *holdfast.Mutex) error {
	for turn := 0; s.over.Err() == nil; turn++ {
		lease, err := m.Lock(s.wait)
		if err != nil {
			return err
		}
		// A client's first turn does not count, because it also subscribes, which is no part of a hand-off.
		r.has(client, time.Now(), turn > 0)
		r.hold(s.over)
		r.gives(client)
		if err := lease.Unlock(s.give); err != nil {
			return err
		}
	}
	return nil
}

// stands notes that a client was refused and now waits in the queue.
func (r *relay) stands(client int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused[client].IsZero() {
		r.refused[client] = time.Now()
	}
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

// has notes that a client got the lock. It counts a hand-off if another client released the lock and this client
// already waited.
func (r *relay) has(client int, now time.Time, counts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.refused[client]
	r.refused[client] = time.Time{}
	if !counts || r.by < 0 || r.by == client || since.IsZero() || since.After(r.released) {
		return
	}
	if r.first.IsZero() {
		r.first = r.released
	}
	r.handed = append(r.handed, now.Sub(r.released))
	r.took = now.Sub(r.first)
}

// hold returns when another client waits or over ends.
func (r *relay) hold(over context.Context) {
	for !r.awaited() {
		select {
		case <-r.arrived:
		case <-over.Done():
			return
		}
	}
}

func (r *relay) awaited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, since := range r.refused {
		if !since.IsZero() { // never the holder's own entry
			return true
		}
	}
	return false
}

// gives notes that a client will call Unlock now.
func (r *relay) gives(client int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released, r.by = time.Now(), client
}
