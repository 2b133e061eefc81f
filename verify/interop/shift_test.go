package interop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// places is the number of permits of each semaphore.
const places = 2

// worker of a shift: a peer process that takes one shared lock again and again.
type shiftWorker struct {
	lib    library
	shared bool                 // others of this kind may have the lock, too
	hold   func() time.Duration // how long it works
	dies   int                  // so many times it is killed while it has the lock, and a new process takes its place
}

// holding is a time in which a peer certainly had the lock: it had said so, and had not been asked to give it back.
type holding struct {
	from, to int64 // in ns since the begin of the shift
	shared   bool
}

// shift is the result of workers that take one lock for some time.
type shift struct {
	mu       sync.Mutex
	held     []holding
	waits    map[bool][]time.Duration // by shared: from the question to the lock
	unserved map[bool]time.Duration   // by shared: the longest wait that had not ended at the end of the shift
	last     int64                    // when the last lock came
	killed   int
	failed   map[string]int // failed commands by the first words of their answers
}

// run lets the workers work for d. faults runs beside them, and ends before d.
func run(t *testing.T, servers []*redistest.Server, ttl, d time.Duration, workers []shiftWorker, faults func()) *shift {
	t.Helper()
	s := &shift{waits: map[bool][]time.Duration{}, unserved: map[bool]time.Duration{}, failed: map[string]int{}}
	var ready, wait sync.WaitGroup
	ready.Add(len(workers))
	began := make(chan struct{})
	ended := make(chan struct{})
	var begin time.Time
	now := func() int64 { return int64(time.Since(begin)) }
	for i, w := range workers {
		wait.Go(func() {
			p, err := startRemote(t, w.lib, servers, ttl)
			ready.Done()
			if err != nil {
				t.Errorf("worker %d: %v", i, err)
				return
			}
			<-began
			for dies := w.dies; ; {
				asked := now()
				if time.Duration(asked) >= d {
					p.Kill()
					return
				}
				answer, over := s.ask(p, "lock", ended)
				if over {
					s.note(func() { s.unserved[w.shared] = max(s.unserved[w.shared], time.Duration(now()-asked)) })
					p.Kill()
					return
				}
				if answer != "ok" {
					s.fail("lock", answer)
					time.Sleep(50 * time.Millisecond) // as a caller that asks again
					continue
				}
				h := holding{from: now(), shared: w.shared}
				s.note(func() {
					s.waits[w.shared] = append(s.waits[w.shared], time.Duration(h.from-asked))
					s.last = max(s.last, h.from)
				})
				time.Sleep(w.hold()) // its work
				if h.to = now(); dies > 0 {
					dies--
					p.Kill()
					s.note(func() { s.killed++; s.held = append(s.held, h) })
					if p, err = startRemote(t, w.lib, servers, ttl); err != nil {
						t.Errorf("worker %d: %v", i, err)
						return
					}
					continue
				}
				answer, _ = s.ask(p, "holds", nil)
				var ago int64
				if n, _ := fmt.Sscanf(answer, "lost %d", &ago); n == 1 {
					h.to = now() - ago*int64(time.Millisecond) - int64(time.Millisecond)
				}
				s.note(func() { s.held = append(s.held, h) })
				if answer, _ := s.ask(p, "unlock", nil); answer != "ok" {
					s.fail("unlock", answer)
				}
			}
		})
	}
	ready.Wait()
	begin = time.Now()
	close(began)
	timer := time.AfterFunc(d, func() { close(ended) })
	defer timer.Stop()
	if faults != nil {
		faults()
	}
	wait.Wait()
	return s
}

func (s *shift) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// fail counts a failed command by the first words of its answer.
func (s *shift) fail(verb, answer string) {
	words := strings.Fields(answer)
	s.note(func() { s.failed[verb+": "+strings.Join(words[:min(2, len(words))], " ")]++ })
}

// ask sends a command. It reports whether the shift ended before the answer came.
func (s *shift) ask(p *remote, verb string, ended <-chan struct{}) (answer string, over bool) {
	p.send(verb, "shift")
	select {
	case text, ok := <-p.out:
		if !ok {
			return "ended", false
		}
		return text, false
	case <-time.After(2 * within):
		return "no answer", false
	case <-ended:
		return "", true
	}
}

// beside counts the locks that began while another one was held, unless both were shared.
func (s *shift) beside() (n int) {
	slices.SortFunc(s.held, func(a, b holding) int { return cmp.Compare(a.from, b.from) })
	for i, h := range s.held {
		if slices.ContainsFunc(s.held[:i], func(o holding) bool { return o.to > h.from && !(o.shared && h.shared) }) {
			n++
		}
	}
	return n
}

// above counts the locks that began while at least k others were held. most is the largest number held at once.
func (s *shift) above(k int) (n, most int) {
	slices.SortFunc(s.held, func(a, b holding) int { return cmp.Compare(a.from, b.from) })
	for i, h := range s.held {
		at := 1
		for _, o := range s.held[:i] {
			if o.to > h.from {
				at++
			}
		}
		if most = max(most, at); at > k {
			n++
		}
	}
	return n, most
}

// longest returns the longest wait of one side, ended or not.
func (s *shift) longest(shared bool) time.Duration {
	longest := s.unserved[shared]
	for _, w := range s.waits[shared] {
		longest = max(longest, w)
	}
	return longest.Round(time.Millisecond)
}

// The judges of a shift find a holder too many.
func TestShiftsAreJudged(t *testing.T) {
	s := &shift{held: []holding{{30, 40, false}, {10, 20, true}, {12, 31, true}, {15, 18, true}, {40, 50, true}}}
	if n := s.beside(); n != 1 {
		t.Errorf("%d beside another, want 1", n)
	}
	if n, most := s.above(2); n != 1 || most != 3 {
		t.Errorf("%d above two, at most %d; want 1 and 3", n, most)
	}
	if n, _ := s.above(3); n != 0 {
		t.Errorf("%d above three", n)
	}
}
