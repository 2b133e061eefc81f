package demo

import (
	"fmt"
	"sync"
	"time"
)

// These numbers are the size of the demo.
const (
	nodes   = 5
	workers = 8
)

// state is the content of the view. The verdict does not use it.
type state struct {
	began time.Time
	tell  func(line string) // receives each line of the story

	mu         sync.Mutex
	title      string
	nodes      [nodes]string
	workers    [workers]string
	holder     int // the worker that holds the lock; -1: none
	token      int64
	last       int // the worker that held the lock last
	increments int
	handOffs   int
	read       [workers]bool // by worker: it has read the number and has not written it
	entry      chan int      // if a fault waits for a holder, receives a worker that has read the number
}

func newState(began time.Time, tell func(string)) *state {
	s := &state{began: began, tell: tell, holder: -1, last: -1, entry: make(chan int)}
	for i := range s.nodes {
		s.nodes[i] = "starts"
	}
	return s
}

// say adds a line to the story.
func (s *state) say(format string, args ...any) {
	s.tell(fmt.Sprintf("%5.1fs  ", time.Since(s.began).Seconds()) + fmt.Sprintf(format, args...))
}

func (s *state) begin(title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.title = title
}

func (s *state) node(i int, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[i] = how
}

func (s *state) worker(i int, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers[i] = how
	if how != inside && s.holder == i {
		s.holder = -1
	}
}

// working returns the token of worker i. ok is true if the worker holds the lock and is between its read and its
// write.
func (s *state) working(i int) (token int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token, s.holder == i && s.read[i]
}

// These are the activities of a worker.
const (
	waits  = "waits"
	inside = "inside"
)

// handleLine handles a line that a worker printed.
func (s *state) handleLine(worker int, line string) {
	var token, highest int64
	switch {
	case line == "read":
		s.mu.Lock()
		s.read[worker] = true
		s.mu.Unlock()
		select {
		case s.entry <- worker:
		default: // no fault waits for a worker
		}
	case line == "writes":
		s.mu.Lock()
		s.read[worker] = false
		s.mu.Unlock()
	case line == "wrote":
		s.mu.Lock()
		s.increments++
		s.mu.Unlock()
	case line == "out":
		s.mu.Lock()
		s.workers[worker] = waits
		if s.holder == worker {
			s.holder = -1
		}
		s.mu.Unlock()
	case scan(line, "in %d", &token):
		s.mu.Lock()
		s.workers[worker] = inside
		if s.last != worker {
			s.handOffs++
		}
		s.holder, s.last, s.token = worker, worker, token
		s.mu.Unlock()
	case line == "noticed":
		s.say("worker %d looked at its lease: lost. It did not write", worker+1)
	case scan(line, "rejected %d %d", &token, &highest):
		s.say("its write, sent on purpose, was refused by the file: token …%s < …%s", short(token), short(highest))
	case line == "refused":
		s.say("a write of worker %d was refused by the file: its token is old", worker+1)
	case line == "accepted":
		s.say("a write of worker %d with an old token was accepted", worker+1)
	}
}

func scan(line, format string, into ...any) bool {
	n, err := fmt.Sscanf(line, format, into...)
	return err == nil && n == len(into)
}

// short returns the last digits of a token. Within one demo, tokens differ only there.
func short(token int64) string { return fmt.Sprintf("%09d", token%1e9) }

// snapshot is the state at one instant.
type snapshot struct {
	title      string
	at         time.Duration
	nodes      [nodes]string
	workers    [workers]string
	holder     int
	token      int64
	increments int
	handOffs   int
}

func (s *state) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot{
		title: s.title, at: time.Since(s.began), nodes: s.nodes, workers: s.workers,
		holder: s.holder, token: s.token, increments: s.increments, handOffs: s.handOffs,
	}
}
