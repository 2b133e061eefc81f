package ui

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// Actions changes locks and jobs. Names are those of a State. from is the address of the reader. An error has words for
// the reader. Each method limits its own time: the server waits for its end.
type Actions interface {
	// Unlock takes a lock, or a slot of a semaphore, away from a holder. It fails if this holder has it no longer.
	Unlock(ctx context.Context, from string, h Taken) error
	// Job changes a job: what is "run", "cancel", "pause" or "resume". note says why; it may be empty.
	Job(ctx context.Context, from, what, name, note string) error
}

// Taken is the holder from whom a reader takes a lock. A process may lock a name again under the same label, so the token
// says which of its leases the reader saw.
type Taken struct {
	Name  string
	Slots int    // the number of slots of a semaphore; 0: Name is a lock
	Slot  int    // the slot of the holder
	Label string // the reader has typed it
	Fence int64  // the token of the holder
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
	Slot  int    `json:"slot"`
	Label string `json:"label"` // of the holder, as a confirmation
	Fence int64  `json:"fence"` // of the holder that the page showed
	What  string `json:"what"`
	Note  string `json:"note"`
}

// mostNote is the length of the longest note, in bytes. A job's audit also has the address of the reader.
const mostNote = 120

func (s *server) unlock(w http.ResponseWriter, r *http.Request) {
	a, ok := read(w, r)
	switch {
	case !ok:
	case a.Label == "":
		http.Error(w, "The label of the holder is missing.", http.StatusBadRequest)
	case a.Fence <= 0:
		http.Error(w, "The token of the holder is missing: send the number that the page shows, as the field fence.", http.StatusBadRequest)
	case a.Slots < 0 || a.Slots > mostSlots:
		http.Error(w, "The number of slots is not valid.", http.StatusBadRequest)
	default:
		s.do(w, func() error {
			return s.Actions.Unlock(r.Context(), reader(r), Taken{a.Name, a.Slots, a.Slot, a.Label, a.Fence})
		})
	}
}

func (s *server) jobAction(w http.ResponseWriter, r *http.Request) {
	a, ok := read(w, r)
	switch {
	case !ok:
	case a.What != "run" && a.What != "cancel" && a.What != "pause" && a.What != "resume":
		http.Error(w, "The action must be run, cancel, pause or resume.", http.StatusBadRequest)
	case len(a.Note) > mostNote:
		http.Error(w, fmt.Sprintf("The note has %d bytes; at most %d are allowed.", len(a.Note), mostNote), http.StatusBadRequest)
	default:
		s.do(w, func() error { return s.Actions.Job(r.Context(), reader(r), a.What, a.Name, a.Note) })
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

// do acts, and answers.
func (s *server) do(w http.ResponseWriter, act func() error) {
	var err error
	s.unhurried(w, func() { err = act() })
	if err != nil {
		http.Error(w, printable.Text(err.Error()), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
