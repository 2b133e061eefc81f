package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/exporter"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/localhost"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
)

// endpointHelp is the part of the help of cron, lead and ui about --metrics-listen.
const endpointHelp = `

--metrics-listen ADDR serves /metrics for Prometheus, /healthz (200 if the process
works) and /readyz (200, or 503 and the reason%s).
ADDR is a port or HOST:PORT. Without HOST only this machine reaches it, and a request
must name 127.0.0.1 or localhost. There is no password, so do not let others reach it
who must not see the names of jobs, elections and nodes.`

// listenAt is the flag --metrics-listen: an address, or "" for no endpoint.
type listenAt string

func (l *listenAt) String() string { return string(*l) }

func (*listenAt) Type() string { return "ADDR" }

func (l *listenAt) Set(text string) error {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		text = ":" + text
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || port == "" {
		return errors.New("want a port such as 9390, or HOST:PORT such as 127.0.0.1:9390")
	}
	*l = listenAt(net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	return nil
}

func (l *listenAt) register(f *pflag.FlagSet) {
	f.Var(l, "metrics-listen", "serve /metrics, /healthz and /readyz at this port or HOST:PORT (default: no)")
}

// endpoint serves the metrics and the health of a command. All methods of a nil endpoint do nothing.
type endpoint struct {
	*app
	metrics   *promholdfast.Metrics
	client    *holdfast.Client
	listener  net.Listener
	server    *http.Server
	elections *exporter.Elections
	jobs      *exporter.Ready // nil: the command runs no jobs
	ended     chan struct{}   // closes when the server has ended

	mu      sync.Mutex
	unready error // why the command is not ready, whatever the nodes say
}

// endpoint begins to listen, or returns nil if there is no address. group is the group of all locks of the process.
// The caller calls observe, serve and close.
func (a *app) endpoint(at listenAt, o promholdfast.Options, group string) (*endpoint, error) {
	if at == "" {
		return nil, nil
	}
	if group != "" { // waiters of jobs and leaders may wait for long, so the rules of alerts leave these groups out
		o.Group = func(string) string { return group }
	}
	m, err := promholdfast.New(o)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", string(at))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = cmp.Or(op.Err, err)
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, usage(fmt.Errorf("--metrics-listen %s: the port is in use", at), "choose another port, or 0 for a free one")
		}
		return nil, usage(fmt.Errorf("--metrics-listen %s: %w", at, err), "it looks like --metrics-listen 127.0.0.1:9390")
	}
	return &endpoint{app: a, metrics: m, listener: l, elections: &exporter.Elections{}, ended: make(chan struct{})}, nil
}

// observe adds the observer of the metrics to the configuration of the client.
func (e *endpoint) observe(c *holdfast.Config) {
	if e != nil {
		c.Observers = append(c.Observers, e.metrics.Observer())
	}
}

// serve serves the metrics of this client until close. terms returns the elections; nil: there are none. more are other
// collectors.
func (e *endpoint) serve(client *holdfast.Client, terms func(context.Context) []exporter.Term, more ...prometheus.Collector) error {
	if e == nil {
		return nil
	}
	e.client = client
	if e.jobs != nil {
		e.jobs.Cluster = client.Stats().Cluster
	}
	collectors := append(more, e.metrics)
	if terms != nil {
		e.elections.Cluster, e.elections.Terms = client.Stats().Cluster, terms
		collectors = append(collectors, e.elections)
	}
	number, _, _ := strings.Cut(version(), " ")
	h, err := exporter.Handler(exporter.Config{
		Version: number, Collectors: collectors, Ready: e.ready, Notes: e.jobs.Notes, Local: localhost.Listens(e.listener.Addr()),
	})
	if err != nil {
		return err
	}
	e.server = exporter.Server(h)
	go func() {
		defer close(e.ended)
		if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
			e.tell("the metrics are not served any more: %v", err)
		}
	}()
	e.note("metrics at http://%s/metrics", e.listener.Addr())
	return nil
}

// close ends the server. Scrapes that it answers now have two seconds.
func (e *endpoint) close() {
	if e == nil {
		return
	}
	if e.server == nil {
		_ = e.listener.Close()
		return
	}
	bounded, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if e.server.Shutdown(bounded) != nil {
		_ = e.server.Close()
	}
	<-e.ended
}

// ready returns why the command cannot do its work now, nil if it can.
func (e *endpoint) ready(ctx context.Context) error {
	e.mu.Lock()
	err := e.unready
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return noQuorum(admin.Nodes(ctx, e.client))
}

// noteReady states why the command is not ready, nil if only the nodes count.
func (e *endpoint) noteReady(err error) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unready = err
}

// unfit returns the collector of the jobs that this machine can or cannot run. jobs returns the reason for each, nil if it
// can. The reasons are also at /readyz.
func (e *endpoint) unfit(jobs func() map[string]error) *exporter.Ready {
	if e == nil {
		return nil
	}
	e.jobs = &exporter.Ready{Jobs: jobs}
	return e.jobs
}

// setJobs states which jobs the command runs.
func (e *endpoint) setJobs(specs []job.Spec) {
	if e != nil {
		_ = e.metrics.SetJobs(e.client, specs...) // the schedules were checked with the file
	}
}

// candidate returns the term of the election in which the command is a candidate.
func (e *endpoint) candidate(client *holdfast.Client, name string) func(context.Context) []exporter.Term {
	if e == nil {
		return nil
	}
	e.elections.Candidate(name)
	return func(ctx context.Context) []exporter.Term {
		l, err := election.New(client, name).Leader(ctx)
		switch {
		case err == nil:
			return []exporter.Term{{Name: name, Fence: l.Term}}
		case errors.Is(err, election.ErrNoLeader):
			return []exporter.Term{{Name: name}}
		}
		return nil
	}
}

// leads states whether the command leads.
func (e *endpoint) leads(yes bool) {
	if e != nil {
		e.elections.Leads(yes)
	}
}

// sampled returns the terms of the elections in the readings of a sampler, which browsers share.
func sampled(s *sample.Sampler) func(context.Context) []exporter.Term {
	return func(ctx context.Context) (terms []exporter.Term) {
		state := latest(ctx, s)
		if state == nil || state.Error != "" { // the terms are old then
			return nil
		}
		for _, e := range state.Elections {
			if e.Error == "" {
				terms = append(terms, exporter.Term{Name: plain(e.Name), Fence: e.Term})
			}
		}
		return terms
	}
}

// waits returns the collector of the longest waits in the readings of a sampler.
func waits(client *holdfast.Client, s *sample.Sampler) *exporter.Waits {
	return &exporter.Waits{Cluster: client.Stats().Cluster, Longest: func(ctx context.Context) (all []exporter.Wait) {
		state := latest(ctx, s)
		if state == nil {
			return nil
		}
		for _, w := range state.LongestWaits() {
			all = append(all, exporter.Wait{Name: plain(w.Name), Seconds: float64(w.For) / 1000})
		}
		return all
	}}
}

// latest returns the present reading of a sampler, nil if ctx ends first.
func latest(ctx context.Context, s *sample.Sampler) *sample.State {
	watching, leave := context.WithCancel(ctx)
	defer leave()
	watcher := s.Watch(watching)
	state, err := watcher.Next(ctx)
	for err == nil && state.Early { // the names and the elections are not read yet
		state, err = watcher.Next(ctx)
	}
	if err != nil {
		return nil
	}
	return state
}

// plain returns the name that a reading shows in quotes if it has special characters.
func plain(name string) string {
	if text, err := strconv.Unquote(name); err == nil && name[0] == '"' {
		return text
	}
	return name
}
