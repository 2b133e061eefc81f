package sample

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// Sampler shares readings among watchers. It is safe for concurrent use. It makes at most one reading at a time, and
// none while nobody watches.
type Sampler struct {
	// Read makes one reading, such as [Reader.Read]. It may return nil if ctx ended.
	Read func(ctx context.Context) *State

	// Every is the time between the beginnings of two readings. A reading that takes longer than half of it makes the
	// time longer, so that the nodes rest for half of the time.
	Every time.Duration

	mu       sync.Mutex
	watchers int
	running  bool
	cancel   context.CancelFunc // ends the reading that goes on
	next     time.Time          // the next reading begins no earlier
	last     *State
	seen     uint64        // number of readings
	news     chan struct{} // this channel closes at the next reading
	past     []Point
	wait     sync.WaitGroup
}

// MostPoints is the number of points that a Sampler keeps: five minutes at one reading a second.
const MostPoints = 300

// Watcher receives readings. Only one goroutine may use it.
type Watcher struct {
	sampler *Sampler
	seen    uint64
}

// Watch begins to watch, until ctx ends. The caller must end ctx.
func (s *Sampler) Watch(ctx context.Context) *Watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news == nil {
		s.news = make(chan struct{})
	}
	w := &Watcher{sampler: s}
	if s.last != nil && s.running {
		w.seen = s.seen - 1 // the last reading is fresh
	} else {
		w.seen = s.seen
	}
	if s.watchers++; !s.running {
		s.running = true
		s.wait.Add(1)
		go s.run()
	}
	context.AfterFunc(ctx, s.leave)
	return w
}

// leave ends the readings when the last watcher goes.
func (s *Sampler) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers--; s.watchers == 0 && s.cancel != nil {
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

// Past returns the points of the last minutes, the oldest first.
func (s *Sampler) Past() []Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Point{}, s.past...)
}

// run makes readings while somebody watches.
func (s *Sampler) run() {
	defer s.wait.Done()
	for {
		ctx, cancel := context.WithCancel(context.Background())
		s.mu.Lock()
		if s.watchers == 0 {
			s.running, s.cancel = false, nil
			s.mu.Unlock()
			cancel()
			return
		}
		s.cancel = cancel
		pause := time.Until(s.next)
		s.mu.Unlock()
		if clock.Rest(ctx, pause) == nil {
			s.once(ctx)
		}
		cancel()
	}
}

// once makes one reading and tells the watchers.
func (s *Sampler) once(ctx context.Context) {
	began := time.Now()
	state := s.Read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = began.Add(max(s.Every, 2*time.Since(began)))
	if state == nil || ctx.Err() != nil {
		return
	}
	s.last = state
	s.seen++
	if s.past = append(s.past, state.Point); len(s.past) > MostPoints {
		s.past = append([]Point{}, s.past[len(s.past)-MostPoints:]...)
	}
	close(s.news)
	s.news = make(chan struct{})
}
