package async

import (
	"math"
	"sync"
	"time"
)

// Room is the number of functions that a queue keeps. It drops more than that: a reader that stops for long must not
// cost the program its memory either.
const Room = 1000

// Forever is a duration for [Queue.Wait]: no limit.
const Forever = time.Duration(math.MaxInt64)

// Queue runs functions in order. The zero Queue is ready for use. A Queue is safe for concurrent use.
type Queue struct {
	// Missed reports that n functions were dropped. The queue calls it in order, in place of the dropped functions.
	// Defaults to nothing.
	Missed func(n int)

	mu     sync.Mutex
	todo   []func()
	missed int           // dropped since the last function of todo
	idle   chan struct{} // closed when no work is left; nil while no goroutine works
}

// Do makes the queue call f soon, and returns at once.
func (q *Queue) Do(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.todo) >= Room {
		q.missed++
		return
	}
	q.gap()
	q.todo = append(q.todo, f)
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.work()
	}
}

// Wait waits until no work is left, for at most d. It reports whether no work is left.
func (q *Queue) Wait(d time.Duration) bool {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return true
	}
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-idle:
		return true
	case <-late.C:
		return false
	}
}

func (q *Queue) work() {
	for f := q.next(); f != nil; f = q.next() {
		f()
	}
}

// next returns the next function, or nil if there is none: the goroutine then ends.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.todo) == 0 {
		q.gap()
	}
	if len(q.todo) == 0 {
		close(q.idle)
		q.idle, q.todo = nil, nil
		return nil
	}
	f := q.todo[0]
	q.todo[0] = nil // the array must not keep f in memory
	q.todo = q.todo[1:]
	return f
}

// gap appends a call of Missed if functions were dropped. q.mu is held.
func (q *Queue) gap() {
	n := q.missed
	q.missed = 0
	if n > 0 && q.Missed != nil {
		q.todo = append(q.todo, func() { q.Missed(n) })
	}
}
