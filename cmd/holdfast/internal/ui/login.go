package ui

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sessions knows the token, and signs the cookies of readers who have shown it. A restart ends all sessions.
type sessions struct {
	token  [sha256.Size]byte // a hash, so that a comparison tells nothing of the length
	key    []byte
	secure bool
}

const (
	sessionLasts = 12 * time.Hour
	mostLogin    = 4 << 10 // bytes of a form
	wrongPause   = 500 * time.Millisecond
)

func newSessions(token string, secure bool) *sessions {
	s := &sessions{token: sha256.Sum256([]byte(token)), key: make([]byte, 32), secure: secure}
	_, _ = rand.Read(s.key) // it never fails
	return s
}

// cookieName is the name of the cookie. Browsers bind a name with __Host- to this host and to TLS.
func (s *sessions) cookieName() string {
	if s.secure {
		return "__Host-holdfast-ui"
	}
	return "holdfast-ui"
}

// right reports whether text is the token.
func (s *sessions) right(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

func (s *sessions) sign(until string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(until))
	return until + "." + hex.EncodeToString(m.Sum(nil))
}

// csrf returns a token for the actions of this session. A page of another site cannot read it. It returns "" for a
// request without the cookie of a session.
func (s *sessions) csrf(r *http.Request) string {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return ""
	}
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte("csrf " + c.Value))
	return hex.EncodeToString(m.Sum(nil))
}

// open reports whether the request has a valid cookie or the token itself.
func (s *sessions) open(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return s.right(bearer)
	}
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return false
	}
	until, _, _ := strings.Cut(c.Value, ".")
	end, err := strconv.ParseInt(until, 10, 64)
	return err == nil && hmac.Equal([]byte(c.Value), []byte(s.sign(until))) && time.Now().Unix() < end
}

// private lets only readers with a session pass. A browser is sent to the login.
func (s *server) private(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.sessions == nil || s.sessions.open(r):
			next(w, r)
		case r.URL.Path == "/" && r.Header.Get("Authorization") == "":
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "A token is needed: open / and enter it, or send it as Authorization: Bearer.", http.StatusUnauthorized)
		}
	}
}

func (s *server) showLogin(w http.ResponseWriter, r *http.Request) {
	if s.sessions == nil || s.sessions.open(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.form(w, http.StatusOK, false)
}

func (s *server) form(w http.ResponseWriter, code int, wrong bool) {
	w.Header().Set("Content-Type", types[".html"])
	w.WriteHeader(code)
	_ = s.login.Execute(w, struct{ Wrong bool }{wrong}) // the reader has gone
}

// takeToken checks the token of the form, and sets the cookie.
func (s *server) takeToken(w http.ResponseWriter, r *http.Request) {
	if s.sessions == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostLogin)
	if !s.sessions.right(r.PostFormValue("token")) {
		timer := time.NewTimer(wrongPause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
		s.form(w, http.StatusUnauthorized, true)
		return
	}
	until := time.Now().Add(sessionLasts)
	http.SetCookie(w, &http.Cookie{
		Name: s.sessions.cookieName(), Value: s.sessions.sign(strconv.FormatInt(until.Unix(), 10)), Path: "/",
		Expires: until, HttpOnly: true, Secure: s.sessions.secure, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
