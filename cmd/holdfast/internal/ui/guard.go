package ui

import (
	"net/http"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/localhost"
)

// policy allows only the page's own files. It forbids inline scripts and styles, and all code made from text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// readings are the addresses that have something of the node set.
var readings = map[string]bool{"/events": true, "/history": true, "/lock": true, "/job": true, "/jobs": true, "/names": true, "/unlock": true}

// guard sets the headers of all answers, and refuses requests that name another host or come from another site.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A client that sends or reads slowly must not keep a goroutine for ever. A stream sets times of its own.
		s.limit(w)
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.TLS {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		switch {
		case s.Local && !localhost.Names(r.Host):
			http.Error(w, "holdfast ui answers on loopback only, and you asked for another host.\n"+
				"Open it as http://127.0.0.1 or http://localhost with its port.", http.StatusMisdirectedRequest)
			return
		case readings[r.URL.Path] && !sameSite(r):
			http.Error(w, "The readings are for the page of holdfast ui only.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limit gives the client a time to send the request, and then the same time to read the answer. A client that sends too
// slowly gets an answer, too.
func (s *server) limit(w http.ResponseWriter) {
	now := time.Now()
	deadlines(w, now.Add(s.patience), now.Add(2*s.patience))
}

// deadlines sets the ends of the time to send and of the time to read; zero: there is no end.
func deadlines(w http.ResponseWriter, sent, read time.Time) {
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(sent), control.SetWriteDeadline(read) // an error means that w is not a connection
}

// unhurried does work that has a limit of its own. Its time is not the time of the client: at the limit of the guard the
// request would end, and the answer would be lost. The client gets the full time for the answer after the work.
func (s *server) unhurried(w http.ResponseWriter, work func()) {
	deadlines(w, time.Time{}, time.Time{})
	work()
	s.limit(w)
}

// sameSite reports whether a browser sent the request for a page of this server. A request without the header comes
// from another program.
func sameSite(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return from == "" || from == "same-origin" || from == "none"
}
