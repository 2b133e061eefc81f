package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// relay measures hand-offs. Several clients take the same lock in turn. Two turns in a row use different clients,
// because one client would pass the lock between its own goroutines, without the nodes.
//
// A holder releases the lock only when another client waits in the nodes' queues. Otherwise the lock would often be
// free when the next client asks, and relay would not measure hand-offs.
type relay struct {
	clients int
	took    time.Duration   // the time from the first counted hand-off to the last one
	handed  []time.Duration // for each hand-off, the time from the call of Unlock to the return of Lock in the other client

	mu       sync.Mutex
	refused  []time.Time // the instant from which each client waits; zero: it does not wait
	arrived  chan struct{}
	first    time.Time // when the first counted hand-off began
	released time.Time // when Unlock was last called
	by       int       // the client that called it
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
				r.noteWaiting(i)
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
		// The first turn of a client does not count, because the client also has to subscribe then.
		r.noteAcquired(client, time.Now(), turn > 0)
		r.hold(s.over)
		r.noteReleased(client)
		if err := lease.Unlock(s.give); err != nil {
			return err
		}
	}
	return nil
}

// noteWaiting notes that a client found the lock held and waits for it now.
func (r *relay) noteWaiting(client int) {
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

// noteAcquired notes that a client got the lock. It counts a hand-off if another client released the lock while this
// one waited.
func (r *relay) noteAcquired(client int, now time.Time, counts bool) {
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

// hold returns when another client waits, or when the context over ends.
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
		if !since.IsZero() { // the holder itself has no entry
			return true
		}
	}
	return false
}

// noteReleased notes that a client is about to call Unlock.
func (r *relay) noteReleased(client int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released, r.by = time.Now(), client
}
