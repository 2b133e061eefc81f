package holdfast

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Observation is one message about an election: its leader, a vacancy, or an outage of the nodes.
type Observation struct {
	// Leader is the present leader. If its Term is the same as before, it has published another value. The zero
	// Leader means that nobody leads, if Err is nil.
	Leader

	// Err is set if too few nodes answered, or if the election cannot be observed. The leader is then unknown.
	Err error
}

// Vacant reports whether nobody leads.
func (o Observation) Vacant() bool { return o.Err == nil && o.Term == 0 }

// String returns the observation in one line, for people and logs.
func (o Observation) String() string {
	if o.Err != nil {
		return "unknown: " + o.Err.Error()
	}
	return o.Leader.String()
}

// Observe returns a channel that receives the present leader and then all changes: another leader, another published
// value, a vacancy, an outage of the nodes, and its end. The channel is closed when ctx ends or the client is closed.
//
// The number of the term never decreases. A value is shown only with its own term. Between two terms the channel
// always receives a vacancy. A vacancy of more than a second is shown if a majority of the nodes answers, even if the
// terms before and after it are not shown.
//
// The client asks the nodes once a second for each name, and only while somebody observes it. The number of observers
// does not matter. If a receiver is slow, it misses old observations. It still receives the latest one, and the fact
// that there was a vacancy.
//
// If the name is bad or the client is closed, the channel receives one Observation with the error.
func (e *Election) Observe(ctx context.Context) <-chan Observation {
	out := make(chan Observation)
	o := &observer{news: make(chan struct{}, 1)}
	switch err := checkName(e.mutex.lock.Name()); {
	case err != nil:
		o.add(Observation{Err: e.mutex.prefix(err)})
		o.end()
	case !e.client.watch(e, o):
		o.add(Observation{Err: e.mutex.prefix(ErrClosed)})
		o.end()
	}
	go o.run(ctx, out)
	return out
}

// observer is one call of Observe.
type observer struct {
	news chan struct{} // has an element if pending or over has changed

	mu      sync.Mutex
	pending []Observation
	over    bool // no further observation will come
	gone    bool // the caller's context has ended
}

// mostPending is the largest number of observations that wait for a slow receiver.
const mostPending = 64

// add adds an observation for the receiver. If too many wait, add drops the old ones. It then adds a vacancy if one
// was among them, because a receiver must not believe that one term followed the other without a gap.
func (o *observer) add(what Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pending = append(o.pending, what); len(o.pending) > mostPending {
		vacancy := slices.IndexFunc(o.pending[:mostPending], Observation.Vacant)
		if o.pending = o.pending[mostPending:]; vacancy >= 0 && !what.Vacant() {
			o.pending = []Observation{{}, what}
		}
	}
	o.wake()
}

// end tells run that no further observation will come.
func (o *observer) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.wake()
}

func (o *observer) wake() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// run sends the observations to the receiver, until ctx ends or no further one will come.
func (o *observer) run(ctx context.Context, out chan<- Observation) {
	defer close(out)
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.gone = true
	}()
	for {
		o.mu.Lock()
		var next Observation
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
		case <-o.news:
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

// lookEvery is the time between two questions about an election.
const lookEvery = time.Second
