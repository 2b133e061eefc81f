package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
)

// relay is clients that take turns on one name. Each is a client of its own, so that the
// lock goes over the nodes: within one client it would be passed on in the process.
//
// A holder gives the lock back when another stands in line for it. Without that it would
// often be free before the other asks, and what is measured would be a plain lock.
type relay struct {
	clients int
	took    time.Duration   // from the first hand-off that counts to the last
	handed  []time.Duration // from the call of Unlock by one to the return of Lock in another

	mu       sync.Mutex
	refused  []time.Time // by client: since when it stands in line; zero: it does not
	arrived  chan struct{}
	first    time.Time // when the first hand-off that counts began
	released time.Time // when Unlock was last called
	by       int       // by whom
}

func newRelay(clients int) *relay {
	return &relay{clients: clients, refused: make([]time.Time, clients), arrived: make(chan struct{}, 1), by: -1}
}

// run has the clients take turns on name for d. The first error ends it for all.
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
		// A client's first turn also subscribes, which is no part of a hand-off.
		r.has(client, time.Now(), turn > 0)
		r.hold(s.over)
		r.gives(client)
		if err := lease.Unlock(s.give); err != nil {
			return err
		}
	}
	return nil
}

// stands notes that a client was refused: it stands in line from now on.
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

// has notes that a client got the lock, and the hand-off if it was one: from another
// client, to one that stood in line already.
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

// hold returns when another client stands in line, or over ends.
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
		if !since.IsZero() { // never the holder's
			return true
		}
	}
	return false
}

// gives notes that a client is about to call Unlock.
func (r *relay) gives(client int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released, r.by = time.Now(), client
}
