//go:build linux

package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// wait begins to wait for the names a … b−1, and returns when all have a place in a queue.
func (w *worker) wait(a, b int) error {
	ctx, cancel := context.WithCancel(context.Background())
	others := w.end
	w.end = func() { cancel(); others() }
	var placed sync.WaitGroup
	placed.Add(b - a)
	bad := make(chan error, b-a)
	for i := a; i < b; i++ {
		var once sync.Once
		m := w.clients[i%len(w.clients)].Mutex(name(i), holdfast.WaitThroughOutages(), holdfast.OnWait(func(err error) {
			var held *holdfast.HeldError
			if errors.As(err, &held) && held.Place > 0 {
				once.Do(placed.Done)
			}
		}))
		w.waits.Go(func() {
			l, err := m.Lock(ctx)
			if err == nil {
				err = unlock(l)
			}
			if err != nil && ctx.Err() == nil {
				bad <- err
			}
			once.Do(placed.Done)
		})
	}
	placed.Wait()
	select {
	case err := <-bad:
		return err
	default:
		return nil
	}
}

// rounds asks for the topology n times, one after the other.
func (w *worker) rounds(n int) error {
	if w.cluster == nil {
		c, err := rueidisnode.NewCluster(w.URL)
		if err != nil {
			return err
		}
		w.cluster = c
	}
	for range n {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, err := w.cluster.Look(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// loop locks and unlocks on some goroutines for some milliseconds, and returns the number of cycles.
func (w *worker) loop(goroutines, ms int, name func(i, n int) string) (int, error) {
	var done atomic.Int64
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			for n := 0; errs[i] == nil; n++ {
				l, err := w.clients[i%len(w.clients)].Mutex(name(i, n), holdfast.WaitThroughOutages()).Lock(ctx)
				if err != nil {
					if ctx.Err() == nil {
						errs[i] = err
					}
					return
				}
				errs[i] = unlock(l)
				done.Add(1)
			}
		})
	}
	all.Wait()
	return int(done.Load()), errors.Join(errs...)
}
