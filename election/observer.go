package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// Observe returns a channel that receives the present leader and then all changes: another leader, another published
// value, a vacancy, an outage of the nodes, and its end. The channel is closed when ctx ends or the client is closed.
//
// The number of the term never decreases. A value is shown only with its own term. Between two terms the channel
// always receives a vacancy. A vacancy of more than a second is shown if a majority of the nodes answers, even if the
// terms before and after it are not shown.
//
// The client asks the nodes once a second for each name, and only while somebody observes it. The number of observers
// does not matter. If a receiver is slow, it misses old news. It still receives the latest, and the fact that there was
// a vacancy.
//
// If the name is bad, the client is closed or ctx is nil, the channel receives one News with the error.
func (e *Election) Observe(ctx context.Context) <-chan News {
	out := make(chan News)
	o := newObserver()
	switch {
	case ctx == nil:
		ctx = context.Background() // the channel is closed after this news
		o.add(News{Err: e.withoutContext("Observe")})
		o.end()
	case errors.Is(e.bad, holdfast.ErrBadName):
		o.add(News{Err: fmt.Errorf("holdfast: %w", e.bad)})
		o.end()
	case !watchersOf(e.inside).add(e, o):
		o.add(News{Err: fmt.Errorf("holdfast: %w", holdfast.ErrClosed)})
		o.end()
	}
	go o.run(ctx, out)
	return out
}

// observer is one call of Observe.
type observer struct {
	changed chan struct{} // has an element if pending or over has changed

	mu      sync.Mutex
	pending []News
	over    bool // no further news will come
	gone    bool // the caller's context has ended
}

func newObserver() *observer { return &observer{changed: make(chan struct{}, 1)} }

// mostPending is the largest number of news that wait for a slow receiver.
const mostPending = 64

// add adds news for the receiver. If too many wait, add drops the old ones. It then adds a vacancy if one was among
// them, because a receiver must not believe that one term followed the other without a gap.
func (o *observer) add(n News) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pending = append(o.pending, n); len(o.pending) > mostPending {
		vacancy := slices.IndexFunc(o.pending[:mostPending], News.Vacant)
		if o.pending = o.pending[mostPending:]; vacancy >= 0 && !n.Vacant() {
			o.pending = []News{{}, n}
		}
	}
	o.wake()
}

// end tells run that no further news will come.
func (o *observer) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.wake()
}

func (o *observer) wake() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// run sends the news to the receiver, until ctx ends or no further news will come.
func (o *observer) run(ctx context.Context, out chan<- News) {
	defer close(out)
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.gone = true
	}()
	for {
		o.mu.Lock()
		var next News
		some, over := len(o.pending) > 0, o.over
		if some {
			next, o.pending = o.pending[0], o.pending[1:]
		}
		o.mu.Unlock()
		switch {
		case some:
			select {
			case out <- next:
			case <-ctx.Done():
				return
			}
			continue
		case over:
			return
		}
		select {
		case <-o.changed:
		case <-ctx.Done():
			return
		}
	}
}

func (o *observer) left() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gone
}
