package ui

import (
	"context"
	"net/http"
	"strconv"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// Details reads what the nodes say about one name, such as [sample.Details]. Each method limits its own time: the server
// waits for its end.
type Details interface {
	// Lock reads a lock, or a semaphore if slots is not 0.
	Lock(ctx context.Context, name string, slots int) (*sample.LockDetails, error)
	// Job reads a job. The result is nil if there is no such job.
	Job(ctx context.Context, name string) (*sample.JobDetails, error)
}

// mostSlots is the largest number of slots that a request may ask for: each slot costs a request to each node.
const mostSlots = 1000

// history answers with the points of the last minutes.
func (s *server) history(w http.ResponseWriter, _ *http.Request) { answer(w, s.Sampler.History(0)) }

func (s *server) lock(w http.ResponseWriter, r *http.Request) {
	name, slots, ok := s.named(w, r)
	if !ok {
		return
	}
	defer func() { <-s.looks }()
	var l *sample.LockDetails
	var err error
	s.unhurried(w, func() { l, err = s.Details.Lock(r.Context(), name, slots) })
	if err != nil {
		http.Error(w, printable.Text(err.Error()), http.StatusBadRequest)
		return
	}
	answer(w, l)
}

func (s *server) job(w http.ResponseWriter, r *http.Request) {
	name, _, ok := s.named(w, r)
	if !ok {
		return
	}
	defer func() { <-s.looks }()
	var j *sample.JobDetails
	var err error
	s.unhurried(w, func() { j, err = s.Details.Job(r.Context(), name) })
	switch {
	case err != nil:
		http.Error(w, printable.Text(err.Error()), http.StatusBadGateway)
	case j == nil:
		http.Error(w, "There is no job "+printable.Text(name)+".", http.StatusNotFound)
	default:
		answer(w, j)
	}
}

// jobs answers with the jobs whose names or hosts contain the parameter part.
func (s *server) jobs(w http.ResponseWriter, r *http.Request) {
	if last, ok := s.searches(w, r); ok {
		defer func() { <-s.looks }()
		answer(w, last.FindJobs(r.URL.Query().Get("part")))
	}
}

// names answers with the locks whose names or holders contain the parameter part. With waiting=1 it answers only with
// those for which somebody waits, and with kind=semaphore it answers with slots. With name it answers with the lock or
// the slots of this name.
func (s *server) names(w http.ResponseWriter, r *http.Request) {
	last, ok := s.searches(w, r)
	if !ok {
		return
	}
	defer func() { <-s.looks }()
	switch q := r.URL.Query(); q.Get("kind") {
	case "":
		if q.Get("name") == "" {
			http.Error(w, "The parameter kind or name is missing.", http.StatusBadRequest)
			return
		}
		answer(w, last.Find(q.Get("name")))
	case "lock":
		answer(w, last.FindLocks(q.Get("part"), q.Get("waiting") == "1"))
	case "semaphore":
		answer(w, last.FindSlots(q.Get("part")))
	default:
		http.Error(w, "The parameter kind must be lock or semaphore.", http.StatusBadRequest)
	}
}

// mostPart is the length of the longest text to search for, in bytes.
const mostPart = 1000

// searches returns the last reading for a search, and takes a place in looks. It answers itself if ok is false.
func (s *server) searches(w http.ResponseWriter, r *http.Request) (last *sample.State, ok bool) {
	if n := len(r.URL.Query().Get("part")); n > mostPart {
		http.Error(w, "The parameter part has "+strconv.Itoa(n)+" bytes; at most "+strconv.Itoa(mostPart)+" are allowed.", http.StatusBadRequest)
		return nil, false
	}
	if last = s.Sampler.Last(); last == nil {
		last = &sample.State{}
	}
	return last, s.look(w, r)
}

// look takes a place in looks. If none is free for a long time, it answers itself, and returns false.
func (s *server) look(w http.ResponseWriter, r *http.Request) bool {
	bounded, cancel := context.WithTimeout(r.Context(), s.patience/2) // less than the guard's, so that the answer arrives
	defer cancel()
	select {
	case s.looks <- struct{}{}:
		return true
	case <-bounded.Done():
		w.Header().Set("Retry-After", "2")
		http.Error(w, "Too many readers ask for details at the same time; ask again later.", http.StatusServiceUnavailable)
		return false
	}
}

// named returns the name and the slots of a request, and takes a place in looks. It answers itself if ok is false.
func (s *server) named(w http.ResponseWriter, r *http.Request) (name string, slots int, ok bool) {
	name = r.URL.Query().Get("name")
	slots, err := strconv.Atoi("0" + r.URL.Query().Get("slots"))
	switch {
	case name == "":
		http.Error(w, "The parameter name is missing.", http.StatusBadRequest)
		return "", 0, false
	case err != nil || slots > mostSlots:
		http.Error(w, "The parameter slots must be a number from 0 to "+strconv.Itoa(mostSlots)+".", http.StatusBadRequest)
		return "", 0, false
	}
	return name, slots, s.look(w, r)
}

// answer sends a value as JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encoded(v)) // the reader has gone
}
