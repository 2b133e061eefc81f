package sample

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Sampler shares readings among watchers, and keeps a history of them. It is safe for concurrent use. It makes at most
// one reading at a time, and none while nobody watches, except for [Sampler.Keep].
type Sampler struct {
	// Read makes one reading, such as [Reader.Read]. It may return nil if ctx ended.
	Read func(ctx context.Context) *State

	// Every is the time between the beginnings of two readings. A reading that takes longer than half of it makes the
	// time longer, so that the nodes rest for half of the time.
	Every time.Duration

	// Idle is the time between two readings while nobody watches and [Sampler.Keep] is in force. Required for Keep.
	Idle time.Duration

	mu       sync.Mutex
	watchers int
	keepers  int
	running  bool
	reading  bool               // a reading goes on; otherwise the Sampler rests
	cancel   context.CancelFunc // ends the reading or the rest
	began    time.Time          // the last reading
	next     time.Time          // the next reading begins no earlier
	last     *State
	whole    *State        // the last reading that is not an early one
	seen     uint64        // number of readings
	news     chan struct{} // this channel closes at the next reading
	past     past
	diary    diary
	wait     sync.WaitGroup
}

// Watcher receives readings. Only one goroutine may use it.
type Watcher struct {
	sampler *Sampler
	seen    uint64
}

// Watch begins to watch, until ctx ends. The caller must end ctx.
func (s *Sampler) Watch(ctx context.Context) *Watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &Watcher{sampler: s}
	if s.last != nil && s.running {
		w.seen = s.seen - 1 // the last reading is fresh
	} else {
		w.seen = s.seen
	}
	s.watchers++
	s.start()
	context.AfterFunc(ctx, s.leave)
	return w
}

// Keep makes readings for the history while nobody watches, one every Idle, until ctx ends. The caller must end ctx.
func (s *Sampler) Keep(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepers++
	s.start()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.keepers--; s.watchers == 0 && s.keepers == 0 && s.cancel != nil {
			s.cancel()
		}
	})
}

// start begins the readings, or ends the rest of a Sampler that nobody watched. The caller holds mu.
func (s *Sampler) start() {
	if s.news == nil {
		s.news = make(chan struct{})
	}
	if s.running {
		if !s.reading && s.cancel != nil {
			s.cancel()
		}
		return
	}
	s.running = true
	s.wait.Add(1)
	go s.run()
}

// leave ends the readings when the last watcher goes.
func (s *Sampler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers--; s.watchers == 0 && s.keepers == 0 && s.cancel != nil {
		s.cancel()
	}
}

// Wait returns when no reading goes on. All watchers must have gone.
func (s *Sampler) Wait() { s.wait.Wait() }

// Next waits for a reading that this watcher has not seen, and returns the latest one. A slow watcher misses readings.
// The error is ctx's.
func (w *Watcher) Next(ctx context.Context) (*State, error) {
	s := w.sampler
	for {
		s.mu.Lock()
		if s.seen > w.seen {
			w.seen = s.seen
			defer s.mu.Unlock()
			return s.last, nil
		}
		news := s.news
		s.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// History is what a Sampler keeps since its first reading.
type History struct {
	Since   int64   `json:"since"`   // the first reading; 0: there was none
	Recent  []Point `json:"recent"`  // the last readings, the oldest first; at most MostPoints
	Minutes []Point `json:"minutes"` // one for each minute, the oldest first; at most MostMinutes
	Events  []Event `json:"events"`  // the oldest first; at most MostEvents of each kind
}

// History returns the history, without the events up to a sequence number.
func (s *Sampler) History(after uint64) History {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.past.copy()
	h.Events = s.diary.after(after)
	return h
}

// Past returns the points of the last readings, the oldest first.
func (s *Sampler) Past() []Point { return s.History(0).Recent }

// Note adds an event that no reading shows, such as an action of an operator. It sets Seq, and At if that is 0.
func (s *Sampler) Note(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.At == 0 {
		e.At = time.Now().UnixMilli()
	}
	s.diary.add(e)
}

// Last returns the last reading that is not an early one, nil if there was none.
func (s *Sampler) Last() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// run makes readings while somebody watches.
func (s *Sampler) run() {
	defer s.wait.Done()
	for {
		ctx, cancel := context.WithCancel(context.Background())
		s.mu.Lock()
		if s.watchers == 0 && s.keepers == 0 {
			s.running, s.cancel = false, nil
			s.mu.Unlock()
			cancel()
			return
		}
		s.cancel = cancel
		next := s.next
		if s.watchers == 0 && !s.began.IsZero() && s.began.Add(s.Idle).After(next) {
			next = s.began.Add(s.Idle)
		}
		s.mu.Unlock()
		if clock.Rest(ctx, time.Until(next)) == nil {
			s.once()
		}
		cancel()
	}
}

// once makes one reading and tells the watchers.
func (s *Sampler) once() {
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	if s.watchers == 0 && s.keepers == 0 {
		s.mu.Unlock()
		return
	}
	s.reading, s.cancel = true, cancel // a watcher that ends the rest now does not end the reading
	s.mu.Unlock()
	state := s.Read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading, s.began, s.next = false, began, began.Add(max(s.Every, 2*time.Since(began)))
	if state == nil || ctx.Err() != nil {
		return
	}
	s.diary.add(happened(s.whole, state)...)
	s.whole = state
	s.past.add(state.Point)
	s.tell(state)
}

// Early gives the watchers a part of the reading that goes on: see [Reader.Early].
func (s *Sampler) Early(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(state)
}

// tell gives the watchers a reading. The caller holds mu.
func (s *Sampler) tell(state *State) {
	s.last = state
	s.seen++
	close(s.news)
	s.news = make(chan struct{})
}
