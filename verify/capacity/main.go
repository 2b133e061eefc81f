package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}

// run prints the tables for the flags.
func run(args []string) error {
	var l Load
	m := usual
	flags := flag.NewFlagSet("capacity", flag.ContinueOnError)
	shards := flags.String("shards", "3,30,300", "`numbers` of shards")
	flags.IntVar(&l.Replicas, "replicas", 1, "replicas of each shard")
	flags.IntVar(&l.Clients, "clients", 100, "clients, each a process")
	flags.Float64Var(&l.Names, "names", 100_000, "leases held at a time")
	flags.Float64Var(&l.Used, "used", 0, "different names used within two hours, if more than -names")
	flags.DurationVar(&l.TTL, "ttl", 10*time.Second, "the TTL of each lease")
	flags.Float64Var(&l.Waiters, "waiters", 10_000, "names for which a client waits, summed over all clients")
	flags.Float64Var(&l.Cycles, "cycles", 1000, "locks and unlocks of free names each second")
	flags.Float64Var(&l.Handoffs, "handoffs", 100, "unlocks of wanted names each second")
	flags.Float64Var(&m.CPU, "cpu", m.CPU, "cores of a server that may be busy")
	flags.Float64Var(&m.Memory, "memory", m.Memory, "bytes of a server")
	flags.Float64Var(&m.Connections, "maxclients", m.Connections, "connections of a server")
	flags.Float64Var(&m.ClientCPU, "client-cpu", m.ClientCPU, "cores of a client that may be busy")
	flags.Float64Var(&m.ClientBytes, "client-memory", m.ClientBytes, "bytes of a client")
	page := flags.String("page", "", "write the page of the last measurements to this `file`, and print nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var all []Load
	for _, text := range strings.Split(*shards, ",") {
		one := l
		one.Shards, _ = strconv.Atoi(text) // 0, which check refuses, if it is no number
		if err := one.check(); err != nil {
			return err
		}
		all = append(all, one)
	}
	last, err := measured()
	if err != nil {
		return err
	}
	if *page != "" {
		return os.WriteFile(*page, []byte(last.page()), 0o644)
	}
	fmt.Printf("Costs measured %s: %s\n\nThis load costs:\n\n", last.Date, last.Machine)
	if err := costs(last.Constants, m, all).text(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("\nThe most of one kind alone, with %d clients and TTL %s, and the limit that comes first:\n\n",
		l.Clients, l.TTL)
	return carried(last.Constants, m, all).text(os.Stdout)
}

// costs returns a table with a column for each load.
func costs(k Constants, m Limits, loads []Load) *table {
	t := &table{head: []string{"shards"}}
	all := make([]Cost, len(loads))
	for i, l := range loads {
		t.head = append(t.head, number(float64(l.Shards)))
		all[i] = k.Cost(l)
	}
	row := func(what string, cell func(i int) string) {
		cells := []string{what}
		for i := range loads {
			cells = append(cells, cell(i))
		}
		t.add(cells...)
	}
	percent := func(x float64) string { return number(100*x) + " %" }
	megabytes := func(x float64) string { return number(x/1e6) + " MB" }
	row("CPU of a shard", func(i int) string { return percent(all[i].ShardCPU) })
	row("CPU of a master that is asked for the topology", func(i int) string { return percent(all[i].AskedCPU) })
	row("messages of clients to a shard a second", func(i int) string { return number(all[i].Messages) })
	row("messages of hand-offs between servers, to each, a second", func(i int) string { return number(all[i].Bus) })
	row("memory of a shard", func(i int) string { return megabytes(all[i].ShardMemory) })
	row("connections of a shard", func(i int) string { return number(all[i].Connections) })
	row("the same, at most, in a burst of first uses of hash slots", func(i int) string { return number(all[i].Burst) })
	row("CPU of a client", func(i int) string { return percent(all[i].ClientCPU) })
	row("memory of a client", func(i int) string { return megabytes(all[i].ClientMemory) })
	row("connections of a client", func(i int) string { return number(all[i].ClientConnections) })
	row("messages of a client a second", func(i int) string { return number(all[i].ClientMessages) })
	row("CPU of a shard for the first use of all hash slots", func(i int) string { return number(all[i].AdmitCPU) + " s" })
	row("the limit that comes first, and the part used", func(i int) string {
		s := m.first(all[i])
		return s.of + ", " + percent(s.part)
	})
	return t
}

// carried returns a table with the most of each kind of load.
func carried(k Constants, m Limits, loads []Load) *table {
	t := &table{head: []string{"shards"}}
	for _, l := range loads {
		t.head = append(t.head, number(float64(l.Shards)))
	}
	for _, of := range kinds {
		cells := []string{of.name}
		for _, l := range loads {
			alone := Load{Shards: l.Shards, Replicas: l.Replicas, Clients: l.Clients, TTL: l.TTL}
			most, limit := m.carries(k, alone, of)
			cells = append(cells, number(most)+" ("+limit+")")
		}
		t.add(cells...)
	}
	return t
}
