//go:build linux

package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// tally is what a server says about its work since its start.
type tally struct {
	at       time.Time
	CPU      float64            // µs
	Memory   float64            // bytes, without those of connections
	Clients  float64            // bytes of connections
	Links    float64            // connections of clients
	Calls    map[string]float64 // by command, also inside scripts
	Messages float64            // the commands that clients sent
	Bus      float64            // messages of hand-offs that came from other servers
}

// sent are the commands that clients send. The others are parts of scripts.
var sent = regexp.MustCompile(`^(evalsha|eval|eval_ro|info|ping|cluster\|nodes|hello|client\|.*|subscribe)$`)

var statLine = regexp.MustCompile(`(?m)^cmdstat_([^:]+):calls=(\d+)`)

// tallyOf reads the counters of a server. Its own commands are among them: one connection and two or three commands.
func tallyOf(t *testing.T, s *redistest.Server) tally {
	t.Helper()
	info := s.MustDo(t, "INFO", "all").(string)
	number := func(field string) float64 {
		_, after, _ := strings.Cut(info, "\n"+field+":")
		text, _, _ := strings.Cut(after, "\r")
		n, _ := strconv.ParseFloat(text, 64)
		return n
	}
	a := tally{at: time.Now(), Calls: map[string]float64{}, Links: number("connected_clients") - 1}
	a.Clients = number("mem_clients_normal")
	a.Memory = number("used_memory") - a.Clients
	a.CPU = 1e6 * (number("used_cpu_sys") + number("used_cpu_user"))
	for _, m := range statLine.FindAllStringSubmatch(info, -1) {
		n, _ := strconv.ParseFloat(m[2], 64)
		if a.Calls[m[1]] = n; sent.MatchString(m[1]) {
			a.Messages += n
		}
	}
	if number("cluster_enabled") == 1 {
		info = s.MustDo(t, "CLUSTER", "INFO").(string)
		a.Bus = number("cluster_stats_messages_publish_received")
	}
	return a
}

// queuesOf returns the bytes of the queues of a server. The whole memory shows them badly: its table of keys grows in steps.
func queuesOf(t *testing.T, s *redistest.Server) (bytes float64) {
	t.Helper()
	for cursor := "0"; ; {
		page := s.MustDo(t, "SCAN", cursor, "MATCH", "*:queue", "COUNT", 10_000).([]any)
		for _, key := range page[1].([]any) {
			n, _ := s.MustDo(t, "MEMORY", "USAGE", key).(int64)
			bytes += float64(n)
		}
		if cursor = page[0].(string); cursor == "0" {
			return bytes
		}
	}
}

// since returns the difference to an earlier tally. Its time is in seconds.
func (a tally) since(b tally) (d tally, seconds float64) {
	d = tally{CPU: a.CPU - b.CPU, Memory: a.Memory - b.Memory, Messages: a.Messages - b.Messages, Bus: a.Bus - b.Bus}
	d.Calls = map[string]float64{}
	for c, n := range a.Calls {
		if n > b.Calls[c] {
			d.Calls[c] = n - b.Calls[c]
		}
	}
	return d, a.at.Sub(b.at).Seconds()
}

// tallies returns the tallies of some servers.
func tallies(t *testing.T, servers []*redistest.Server) (all []tally) {
	t.Helper()
	for _, s := range servers {
		all = append(all, tallyOf(t, s))
	}
	return all
}
