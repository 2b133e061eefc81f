package check

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/promserver"
)

// server is a real Prometheus with the alert rules of the project.
type server struct {
	t *testing.T
	*promserver.Server
}

// scrape starts a Prometheus that scrapes the targets every half second.
func scrape(t *testing.T, targets ...string) server {
	t.Helper()
	return server{t, promserver.Start(t, promserver.Rules(t), time.Second/2, targets...)}
}

// query returns the number of series of an expression.
func (s server) query(expr string) (int, error) {
	var data struct{ Result []json.RawMessage }
	err := s.Get("query", url.Values{"query": {expr}}, &data)
	return len(data.Result), err
}

// evaluates checks that Prometheus has evaluated n rules without an error.
func (s server) evaluates(n int) {
	s.t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	if err := s.Get("rules", nil, &data); err != nil {
		s.t.Fatal(err)
	}
	found := 0
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if found++; r.Health != "ok" {
				s.t.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError)
			}
		}
	}
	if found != n {
		s.t.Errorf("%d rules, want %d", found, n)
	}
}

// alerts reports whether an alert is pending or firing.
func (s server) alerts(name string) bool { return s.alertsOf(name, "") }

// alertsOf reports whether an alert about a job is pending or firing.
func (s server) alertsOf(name, job string) bool {
	list, err := s.Server.Alerts()
	return err == nil && slices.ContainsFunc(list, func(a promserver.Alert) bool { return a.Name() == name && a.Labels["name"] == job })
}
