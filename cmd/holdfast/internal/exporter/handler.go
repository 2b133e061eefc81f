package exporter

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/localhost"
)

const (
	mostScrapes  = 4                // at the same time
	patience     = 5 * time.Second  // with the nodes, for one answer
	freshFor     = time.Second      // for which an answer about readiness counts
	mostRequest  = 10 * time.Second // to send a request
	mostAnswer   = 30 * time.Second // to take an answer
	idle         = 2 * time.Minute
	mostHeader   = 16 << 10
	plainContent = "text/plain; charset=utf-8"
)

// Config says what the endpoint serves.
type Config struct {
	Version    string                          // of the command
	Collectors []prometheus.Collector          // beside those of the process
	Ready      func(ctx context.Context) error // returns why the process cannot do its work now, or nil
	Notes      func() []string                 // returns lines for /readyz about work that others must do; nil: there are none

	// Local demands that a request names a loopback host. Then a page of another site cannot read the answers by giving its
	// own host name a loopback address (DNS rebinding).
	Local bool
}

// Handler returns the handler of /metrics, /healthz and /readyz.
//
// /healthz answers 200 if the process answers at all. /readyz answers 200, or 503 with the reason as text, and then the
// lines of Notes. It asks Ready at most once a second. The error is that of a collector that cannot be registered.
func Handler(c Config) (http.Handler, error) {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "holdfast_build_info", Help: "Always 1. The labels have the versions of holdfast and of Go.",
		ConstLabels: prometheus.Labels{"version": c.Version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
	all := append([]prometheus.Collector{
		build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}, c.Collectors...)
	for _, one := range all {
		if err := reg.Register(one); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: mostScrapes}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "the process works") })
	ready := &readiness{ask: c.Ready}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		var notes []string
		if c.Notes != nil {
			notes = c.Notes()
		}
		if err := ready.check(r.Context()); err != nil {
			say(w, http.StatusServiceUnavailable, append([]string{err.Error()}, notes...)...)
			return
		}
		say(w, http.StatusOK, append([]string{"ready"}, notes...)...)
	})
	if !c.Local {
		return mux, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !localhost.Names(r.Host) {
			say(w, http.StatusMisdirectedRequest, "This endpoint answers on loopback only, and you asked for another host.\n"+
				"Ask for 127.0.0.1 or localhost with its port, or give --metrics-listen the host.")
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

func say(w http.ResponseWriter, code int, lines ...string) {
	w.Header().Set("Content-Type", plainContent)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// readiness has the last answer to the question whether the process is ready.
type readiness struct {
	ask func(ctx context.Context) error

	mu    sync.Mutex
	err   error
	until time.Time
}

func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return r.err
	}
	// A prober that goes away must not leave its error to the next one.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r.err = r.ask(bounded)
	r.until = time.Now().Add(freshFor)
	return r.err
}

// Server returns a server of the handler. It gives slow clients a bounded time.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: mostRequest, ReadTimeout: mostRequest, WriteTimeout: mostAnswer, IdleTimeout: idle,
		MaxHeaderBytes: mostHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
}
