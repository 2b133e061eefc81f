package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine of a measurement.
func machine() string {
	cpu := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, after, _ := strings.Cut(string(text), "model name")
		line, _, _ := strings.Cut(after, "\n")
		cpu = strings.TrimSpace(strings.Trim(line, "\t :"))
	}
	server := cmp.Or(os.Getenv("SERVER"), "redis-server")
	out, _ := exec.Command(server, "--version").Output() // a missing version is visible in the page
	version := ""
	if f := strings.Fields(string(out)); len(f) > 2 {
		version = f[0] + " " + strings.TrimPrefix(f[2], "v=")
	}
	return fmt.Sprintf("%d cores (%s), %s, %s", runtime.NumCPU(), cpu, version, runtime.Version())
}

// store writes the measurements as JSON, and the page.
func (m Measured) store(file, page string) error {
	b, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, append(b, '\n'), 0o644), os.WriteFile(page, []byte(m.page()), 0o644))
}

// comparisons returns the table of the checks.
func comparisons(m Measured) *table {
	t := &table{head: []string{"run", "figure", "model", "measured", "error", "accepted"}}
	for _, c := range m.Checks {
		t.add(c.row(m.Constants)...)
	}
	return t
}

// example is the load on the page, without a number of shards.
var example = Load{
	Replicas: 1, Clients: 100, Names: 100_000, TTL: 10 * time.Second, Waiters: 10_000, Cycles: 1000, Handoffs: 100,
}

// pages are the numbers of shards on the page.
var pages = []int{3, 30, 300}

// page returns the page for docs/results.
func (m Measured) page() string {
	var b strings.Builder
	var loads []Load
	for _, n := range pages {
		l := example
		l.Shards = n
		loads = append(loads, l)
	}
	fmt.Fprintf(&b, `# What a Redis Cluster carries

make capacity WRITE=1 writes this page. [glossary.md](../design/glossary.md) defines the terms.

- Measured %s. Servers and clients shared the machine:
  %s.
- A model computes the figures from the costs below. It has measured up to 100,000 names, 10,000 waiters and 300
  clients on three shards, and clients that do nothing on more. Other numbers of shards are computed.
- Another machine has other costs, and a busy one, too. The ratios of two figures change less.
- CPU is right within a factor of 2.5. Messages, connections and memory are right within the errors below.
- Each client is a process. A client that sleeps between its messages needs more CPU for each than a busy one: it
  wakes for each, and a busy one at most %s times a second.
- The model knows no faults, no network delay, and no other programs. Every client uses every shard.
- For your own load: %s.

## The most of one kind alone

With %d clients, TTL %s and %d replica of each shard. A server may use %.1f cores, %s GB and %s connections, a client
%.0f core. The limit that comes first is in brackets.

`, m.Date, m.Machine, number(m.Constants.ClientWakes), "`go run ./verify/capacity -h`",
		example.Clients, example.TTL, example.Replicas, usual.CPU, number(usual.Memory/(1<<30)), number(usual.Connections), usual.ClientCPU)
	carried(m.Constants, usual, loads).markdown(&b)
	fmt.Fprintf(&b, `
## What one load costs

%s leases, %s waiters, %s cycles and %s hand-offs a second, by %d clients. A cycle is the lock and unlock
of a free name.

`, number(example.Names), number(example.Waiters), number(example.Cycles), number(example.Handoffs), example.Clients)
	costs(m.Constants, usual, loads).markdown(&b)
	b.WriteString(`
## How good the model is

The costs come from one shard with up to 6,000 names, 6,000 waiters and 51 clients, and from 50 clients on six shards.
These larger runs were not used for them. CPU is of one core.

`)
	comparisons(m).markdown(&b)
	b.WriteString(`
## The costs

CPU is in µs and memory in bytes. verify/capacity/constants.go explains each name.

`)
	t := &table{head: []string{"cost", "value"}}
	m.Constants.each(func(name string, value *float64) { t.add(name, number(*value)) })
	t.markdown(&b)
	return b.String()
}
