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
		control, by := http.NewResponseController(w), time.Now().Add(s.patience)
		_, _ = control.SetReadDeadline(by), control.SetWriteDeadline(by) // an error means that w is not a connection
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

// sameSite reports whether a browser sent the request for a page of this server. A request without the header comes
// from another program.
func sameSite(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return from == "" || from == "same-origin" || from == "none"
}
