package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
)

//go:embed page
var embedded embed.FS

// Config contains the settings of the page.
type Config struct {
	// Sampler makes the readings. Required.
	Sampler *sample.Sampler

	// Token is the secret that a reader must know; "": everybody who reaches the server may read.
	Token string

	// Local demands that a request names a loopback host. Then a page of another site cannot read this one by giving
	// its own host name a loopback address (DNS rebinding).
	Local bool

	// Details reads what the page asks for about one name. If it is nil, the page has no details.
	Details Details

	// Actions changes locks and jobs for readers with a session, so Token is required. If it is nil, the page is
	// read-only, and the addresses of the actions do not exist.
	Actions Actions

	// TLS says that the requests come over TLS, so the cookie is sent over TLS only.
	TLS bool
}

// server answers the requests.
type server struct {
	Config
	sessions *sessions
	files    map[string]file
	login    *template.Template
	watchers chan struct{} // has one element for each open stream
	looks    chan struct{} // has one element for each reading of details and each search
	patience time.Duration // with a client that sends or reads slowly
}

// file is a file of the page.
type file struct {
	body []byte
	tag  string // of HTTP caches
}

// mostWatchers limits the open streams.
const mostWatchers = 256

// mostLooks limits the readings of details at the same time.
const mostLooks = 16

// Handler returns the handler of the page.
func Handler(c Config) http.Handler { return handler(c, mostWrite) }

func handler(c Config, patience time.Duration) http.Handler {
	s := &server{Config: c, files: pageFiles(), watchers: make(chan struct{}, mostWatchers), looks: make(chan struct{}, mostLooks), patience: patience}
	if c.Token != "" {
		s.sessions = newSessions(c.Token, c.TLS)
	}
	s.login = template.Must(template.ParseFS(embedded, "page/login.html"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", s.private(s.events))
	mux.HandleFunc("GET /history", s.private(s.history))
	mux.HandleFunc("GET /jobs", s.private(s.jobs))
	mux.HandleFunc("GET /names", s.private(s.names))
	if c.Details != nil {
		mux.HandleFunc("GET /lock", s.private(s.lock))
		mux.HandleFunc("GET /job", s.private(s.job))
	}
	if c.Actions != nil && s.sessions != nil {
		mux.HandleFunc("POST /unlock", s.private(s.act(s.unlock)))
		mux.HandleFunc("POST /job", s.private(s.act(s.jobAction)))
	}
	mux.HandleFunc("GET /login", s.showLogin)
	mux.HandleFunc("POST /login", s.takeToken)
	mux.HandleFunc("GET /{$}", s.private(s.index))
	mux.HandleFunc("GET /", s.file)
	return s.guard(mux)
}

// pageFiles returns the embedded files by their paths.
func pageFiles() map[string]file {
	files := map[string]file{}
	root, err := fs.Sub(embedded, "page")
	if err == nil {
		err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := fs.ReadFile(root, name)
			sum := sha256.Sum256(body)
			files["/"+name] = file{body, `"` + hex.EncodeToString(sum[:16]) + `"`}
			return err
		})
	}
	if err != nil {
		panic(fmt.Sprintf("ui: the embedded files cannot be read: %v", err)) // the program was built without them
	}
	return files
}

// types are the content types of the page. Those of the machine may differ.
var types = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func (s *server) index(w http.ResponseWriter, r *http.Request) { s.serve(w, r, "/index.html") }

// file sends a file of the page. The files are public, also if a token is needed: they contain nothing of the node set.
func (s *server) file(w http.ResponseWriter, r *http.Request) {
	if types[path.Ext(r.URL.Path)] == "" || strings.HasSuffix(r.URL.Path, ".html") {
		http.NotFound(w, r)
		return
	}
	s.serve(w, r, r.URL.Path)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("ETag", f.tag)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}
