package ui

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Actions changes locks and jobs. Names are those of a State. from is the address of the reader. An error has words for
// the reader.
type Actions interface {
	// Unlock takes a lock away from the holders with this label, or a semaphore's slots if slots is not 0.
	Unlock(ctx context.Context, from, name string, slots int, label string) error
	// Job runs, pauses or resumes a job: what is "run", "pause" or "resume".
	Job(ctx context.Context, from, what, name string) error
}

// act lets only requests pass that the page itself has sent in this session. A request with the token in the header
// Authorization comes from a program, and no browser adds that header.
func (s *server) act(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			want := s.sessions.csrf(r)
			switch {
			case !sameOrigin(r):
				http.Error(w, "Actions are for the page of holdfast ui only.", http.StatusForbidden)
				return
			case want == "" || !hmac.Equal([]byte(want), []byte(r.Header.Get("Holdfast-CSRF"))):
				http.Error(w, "The page is from an earlier session: load it again.", http.StatusForbidden)
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostLogin)
		next(w, r)
	}
}

// sameOrigin reports whether a page of this server sent a request. A browser names the origin of each POST.
func sameOrigin(r *http.Request) bool {
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && strings.EqualFold(origin.Host, r.Host)
}

// action is the body of an action.
type action struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
	Label string `json:"label"` // of the holder, as a confirmation
	What  string `json:"what"`
}

func (s *server) unlock(w http.ResponseWriter, r *http.Request) {
	a, ok := read(w, r)
	switch {
	case !ok:
	case a.Label == "":
		http.Error(w, "The label of the holder is missing.", http.StatusBadRequest)
	case a.Slots < 0 || a.Slots > mostSlots:
		http.Error(w, "The number of slots is not valid.", http.StatusBadRequest)
	default:
		done(w, s.Actions.Unlock(r.Context(), reader(r), a.Name, a.Slots, a.Label))
	}
}

func (s *server) jobAction(w http.ResponseWriter, r *http.Request) {
	a, ok := read(w, r)
	switch {
	case !ok:
	case a.What != "run" && a.What != "pause" && a.What != "resume":
		http.Error(w, "The action must be run, pause or resume.", http.StatusBadRequest)
	default:
		done(w, s.Actions.Job(r.Context(), reader(r), a.What, a.Name))
	}
}

// reader returns the address of the reader without its port.
func reader(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// read reads the body of an action. It answers itself if ok is false.
func read(w http.ResponseWriter, r *http.Request) (a action, ok bool) {
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil || a.Name == "" {
		http.Error(w, "The body must be JSON with the field name.", http.StatusBadRequest)
		return a, false
	}
	return a, true
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
