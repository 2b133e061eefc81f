package holdfast

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Observation is a piece of news about an election: a leader, a vacancy, or an outage.
type Observation struct {
	// Leader leads, and may have published another value than before. The zero Leader is a vacancy, unless Err is set.
	Leader

	// Err is set if too few nodes answered, or if the election cannot be observed. Who leads is unknown then.
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

// Observe returns a channel of the present leader and of all changes: another leader, another published value, a
// vacancy, an outage of the nodes and its end. The channel is closed when ctx ends or the client is closed.
//
// Terms never go back. A value is shown with its own term only. There is a vacancy between any two terms that are shown.
// A vacancy of more than a second is shown, also if the terms around it are not, as long as a majority of the nodes
// answers.
//
// The client asks the nodes once a second for each name, however many observers there are, and only while there are
// observers. If a receiver is slow, old news is dropped: the latest always arrives, and also that there was a vacancy.
//
// If the name is bad or the client is closed, the only Observation has the error.
func (e *Election) Observe(ctx context.Context) <-chan Observation {
	out := make(chan Observation)
	o := &observer{news: make(chan struct{}, 1)}
	switch err := checkName(e.mutex.lock.Name()); {
	case err != nil:
		o.tell(Observation{Err: e.mutex.prefix(err)})
		o.end()
	case !e.client.watch(e, o):
		o.tell(Observation{Err: e.mutex.prefix(ErrClosed)})
		o.end()
	}
	go o.run(ctx, out)
	return out
}

// observer is one call of Observe.
type observer struct {
	news chan struct{} // has an element if there is news

	mu      sync.Mutex
	pending []Observation
	over    bool // nothing more comes
	gone    bool // the caller's context has ended
}

// mostPending is the number of observations that wait for a slow receiver.
const mostPending = 64

// tell adds an observation for the receiver.
func (o *observer) tell(what Observation) {
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

// end says that nothing more comes.
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

// run passes the observations on, until ctx ends or nothing more comes.
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
