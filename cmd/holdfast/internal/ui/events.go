package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

// A stream of server-sent events begins with "hello", which says what the reader may do, and "past", the history. Then
// it has a "state" for each reading, and "happened" for new events. A slow reader misses readings, but no events that
// the Sampler still has.
const (
	mostSilence = 15 * time.Second // then a comment is sent, so that a dead connection is noticed
	mostWrite   = 10 * time.Second // for one event; also to send a request, and to take its answer
)

func (s *server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("Already %d browsers watch; close some.", mostWatchers), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would collect events
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	watcher := s.Sampler.Watch(ctx)
	history := s.Sampler.History(0)
	seen := lastOf(history.Events, 0)
	out := stream{w, http.NewResponseController(w), s.patience}
	if r.ContentLength == 0 { // the guard has limited the time of the request, and a stream lasts
		_ = out.control.SetReadDeadline(time.Time{})
	}
	if out.send("retry: 2000\nevent: hello\ndata: ", encoded(s.hello(r)), "\n\n") != nil ||
		out.send("event: past\ndata: ", encoded(history), "\n\n") != nil {
		return
	}
	for {
		bounded, done := context.WithTimeout(ctx, mostSilence)
		state, err := watcher.Next(bounded)
		done()
		switch {
		case err == nil:
			err = out.send("event: state\ndata: ", state.JSON(), "\n\n")
			if news := s.Sampler.History(seen).Events; err == nil && len(news) > 0 {
				seen = lastOf(news, seen)
				err = out.send("event: happened\ndata: ", encoded(news), "\n\n")
			}
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			err = out.send(":\n\n", nil, "")
		}
		if err != nil {
			return
		}
	}
}

// hello is what the page must know before the first reading.
type hello struct {
	Details bool   `json:"details"` // the page may ask for details
	CSRF    string `json:"csrf"`    // a token for actions; "" if there are none
}

func (s *server) hello(r *http.Request) hello {
	h := hello{Details: s.Details != nil}
	if s.Actions != nil && s.sessions != nil {
		h.CSRF = s.sessions.csrf(r)
	}
	return h
}

// encoded returns JSON. The types of the page have no value that cannot be encoded.
func encoded(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}

// lastOf returns the highest sequence number of events, seen if there are none.
func lastOf(events []sample.Event, seen uint64) uint64 {
	if len(events) > 0 {
		return events[len(events)-1].Seq
	}
	return seen
}

// stream writes events, each within patience.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

func (s stream) send(head string, body []byte, tail string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	for _, part := range [][]byte{[]byte(head), body, []byte(tail)} {
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	// HTTP/2 would end a silent stream at the deadline.
	if err := s.control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
