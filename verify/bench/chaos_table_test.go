//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// This file prints the table of the overlaps: a row for each kind of fault, a column for each lock.

type column struct {
	report *chaos.Report
	busy   float64 // the used share of the machine's CPUs during the run
}

// overlaps returns the number of overlaps before which a fault of this kind was the last to begin.
func (c column) overlaps(kind string) int {
	return c.report.ByFault["during: "+kind] + c.report.ByFault["after: "+kind]
}

func (c column) total() (faults int) {
	for _, n := range c.report.Faults {
		faults += n
	}
	return faults
}

const chaosTableNote = `A cell is the number of overlaps found / of faults of this kind that took effect; an empty one: the kind does not apply. Faults last and overlap each other. An overlap, which is a belief in a lock that began while another process believed in the same, is put down to the fault of any kind that had begun last before it, whether that was still under way or over. So a cell may count what an earlier fault left behind.
`

func chaosTable(columns []column) string {
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	row := func(head string, cell func(column) string) {
		b.WriteString("| " + head + " |")
		for _, c := range columns {
			b.WriteString(strings.TrimRight(" "+cell(c), " ") + " |")
		}
		b.WriteString("\n")
	}
	p := columns[0].report.Plan
	fmt.Fprintf(&b, "## Overlaps found, by kind of fault\n\n%s of faults for each lock, about one every %s, seed %d; %d client processes with %d loops each, %d names, TTL %s.\n\n",
		p.For, p.Every, p.Seed, p.Clients, p.Loops, p.Names, p.TTL)
	row("the fault that came last before the overlap", func(c column) string {
		return fmt.Sprintf("%s, %d %s", c.report.Plan.Locker, c.report.Plan.Nodes, map[bool]string{true: "node", false: "nodes"}[c.report.Plan.Nodes == 1])
	})
	b.WriteString("|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for _, kind := range chaos.Kinds() {
		applies := func(c column) bool { return slices.Contains(c.report.Plan.Faults(), kind) }
		if !slices.ContainsFunc(columns, applies) {
			continue
		}
		row(kind, func(c column) string {
			if !applies(c) {
				return ""
			}
			return fmt.Sprintf("%d / %d", c.overlaps(kind), c.report.Faults[kind])
		})
	}
	none := "before the first"
	if slices.ContainsFunc(columns, func(c column) bool { return c.report.ByFault[none] > 0 }) {
		row(none, func(c column) string { return fmt.Sprint(c.report.ByFault[none]) })
	}
	row("**all: overlaps / faults**", func(c column) string { return fmt.Sprintf("**%d** / %d", c.report.Overlaps, c.total()) })
	row("leases", func(c column) string { return fmt.Sprint(c.report.Grants) })
	row("updates lost of those acknowledged, register without a guard", func(c column) string { return fmt.Sprintf("%d of %d", c.report.Open.Lost, c.report.Open.Acked) })
	row("CPUs in use meanwhile, by all that ran", func(c column) string { return fmt.Sprintf("%.0f %%", 100*c.busy) })
	b.WriteString("\n" + chaosTableNote)
	return b.String()
}

// appendTo prints a text, and appends it to a file unless file is "".
func appendTo(file, text string) error {
	fmt.Println(text)
	if file == "" || text == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

func TestTheTableOfOverlapsNamesEachKindThatWasInflicted(t *testing.T) {
	five := column{&chaos.Report{Plan: chaos.Plan{Locker: "redsync", Nodes: 5, Kinds: commonFaults(5)}, Faults: map[string]int{"clock steps": 3, "FLUSHALL": 2},
		Overlaps: 7, ByFault: map[string]int{"during: clock steps": 4, "after: clock steps": 2, "before the first": 1}}, 0.5}
	one := column{&chaos.Report{Plan: chaos.Plan{Locker: "plain", Nodes: 1, Kinds: commonFaults(1)}, Faults: map[string]int{"FLUSHALL": 2},
		Overlaps: 9, ByFault: map[string]int{"after: FLUSHALL": 9}}, 0.5}
	table := chaosTable([]column{five, one})
	for _, line := range []string{
		"| the fault that came last before the overlap | redsync, 5 nodes | plain, 1 node |",
		"| clock steps | 6 / 3 | |",
		"| FLUSHALL | 0 / 2 | 9 / 2 |",
		"| partition | 0 / 0 | 0 / 0 |",
		"| before the first | 1 | 0 |",
		"| **all: overlaps / faults** | **7** / 5 | **9** / 2 |",
		"| CPUs in use meanwhile, by all that ran | 50 % | 50 % |",
	} {
		if !strings.Contains(table, line+"\n") {
			t.Errorf("no line %q in\n%s", line, table)
		}
	}
	for _, absent := range []string{"FLUSHALL and a false voucher", "client with another MaxTTL"} {
		if strings.Contains(table, absent) {
			t.Errorf("%q is in the table, and was inflicted on nobody", absent)
		}
	}
}
