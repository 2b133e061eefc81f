//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/verify/chaos"
)

// complaints counts the errors that a judge reports.
type complaints struct {
	testing.TB
	n int
}

func (f *complaints) Helper()               {}
func (f *complaints) Log(...any)            {}
func (f *complaints) Logf(string, ...any)   {}
func (f *complaints) Error(...any)          { f.n++ }
func (f *complaints) Errorf(string, ...any) { f.n++ }

// The protocol of a rival allows two holders. A long run that finds none shows that the harness is broken.
func TestAHarnessThatFindsNoTwoHoldersOfARivalFails(t *testing.T) {
	for _, s := range chaosSystems {
		if s.locker == "holdfast" {
			continue
		}
		for name, c := range map[string]struct {
			rounds, overlaps int
			fails            bool
		}{
			"none in many rounds":    {11, 0, true},
			"none in the usual run":  {4, 0, true},
			"none in just enough":    {foundIn, 0, true},
			"none in half a round":   {0, 0, false},
			"one in the usual run":   {4, 1, false},
			"many in half a round":   {0, 9, false},
			"none in a single round": {1, 0, s.locker == "plain"},
		} {
			f := &complaints{TB: t}
			s.demand(f, &chaos.Report{Plan: chaos.Plan{Locker: s.locker, Nodes: s.nodes, For: time.Minute}, Rounds: c.rounds, Faults: map[string]int{"FLUSHALL": c.rounds}, Overlaps: c.overlaps})
			if (f.n > 0) != c.fails {
				t.Errorf("%s: %s: %d failures, want some: %t", s, name, f.n, c.fails)
			}
		}
	}
}

// The usual run and the published run are long enough for more than foundIn rounds.
func TestTheUsualRunHasTimeForTheRoundsItNeeds(t *testing.T) {
	for _, run := range []struct{ length, every time.Duration }{{10 * time.Minute, 5 * time.Second}, {15 * time.Minute, 3 * time.Second}} {
		for _, s := range chaosSystems {
			kinds := len(commonFaults(s.nodes))
			// One round more than foundIn is needed, because one may be late or incomplete.
			if rounds := int(run.length / run.every / time.Duration(kinds)); rounds < foundIn+1 {
				t.Errorf("%s: %s with a fault every %s are %d rounds of %d kinds; want more than %d", s, run.length, run.every, rounds, kinds, foundIn)
			}
		}
	}
}
