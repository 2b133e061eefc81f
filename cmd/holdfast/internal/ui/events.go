package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A stream of server-sent events begins with "past", the points of the last minutes, and then has a "state" for each
// reading. All streams send the same bytes. A slow reader misses readings.
const (
	mostSilence = 15 * time.Second // then a comment is sent, so that a dead connection is noticed
	mostWrite   = 10 * time.Second // for one event, or one request that is no stream
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
	past, _ := json.Marshal(s.Sampler.Past()) // its types have no value that cannot be encoded
	out := stream{w, http.NewResponseController(w), s.patience}
	if r.ContentLength == 0 { // the guard has limited the time of the request, and a stream lasts
		_ = out.control.SetReadDeadline(time.Time{})
	}
	if out.send("retry: 2000\nevent: past\ndata: ", past, "\n\n") != nil {
		return
	}
	for {
		bounded, done := context.WithTimeout(ctx, mostSilence)
		state, err := watcher.Next(bounded)
		done()
		switch {
		case err == nil:
			err = out.send("event: state\ndata: ", state.JSON(), "\n\n")
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			err = out.send(":\n\n", nil, "")
		}
		if err != nil {
			return
		}
	}
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
