package nodemodel

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// These tests are about a server behind Sentinels. Each failover has an epoch.

// isNamed sets the epoch under which Sentinel names the server from now on. firm is true if it has done so for some
// time.
func (w *world) isNamed(epoch int64, firm bool) {
	w.named = []string{nodescript.Micros(epoch), "", "", ""}
	if firm {
		w.named[1] = "F"
	}
}

// A former master has its guard, its run id and its replication id. Only the epoch tells that another server ruled.
func TestAServerThatIsNamedInALaterEpochHasForgotten(t *testing.T) {
	w := newWorld(t)
	w.isNamed(1, false)
	w.admits(0, "Qnew")
	w.at(w.now + full)
	w.admits(0, "R")
	w.says("G", acquire("a", w.now))
	w.admits(0, "R") // of the same epoch

	w.isNamed(3, false)
	w.admits(0, "Qnamed")
	w.says("N", acquire("b", w.now))
	w.at(w.now + full - 1)
	w.admits(0, "Qnamed")
	w.at(w.now + 1)
	w.admits(0, "R")
	w.isNamed(5, false)
	w.admits(0, "Qnamed")
	w.at(w.now + 1_000_000)
	w.isNamed(7, false) // a failover during the quarantine begins it again
	w.admits(0, "Qnamed")
	w.at(w.now + full - 1)
	w.admits(0, "Qnamed")
	w.at(w.now + 1)
	w.admits(0, "R")
}

// A client that has not heard of the last failover changes nothing, and gets no vote.
func TestAnOlderEpochChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.isNamed(3, false)
	w.vote(0)
	old := fmt.Sprintf("Uepoch %016d %016d", 2, 3)
	before := w.model.keys[nodescript.GuardKey]
	w.isNamed(2, false)
	w.admits(0, old)
	if w.model.keys[nodescript.GuardKey] != before {
		t.Error("the guard is gone")
	}
	w.named = nil // a client without Sentinel
	w.admits(0, "R")
	w.isNamed(4, false)
	w.admits(0, "Qnamed")
	w.isNamed(3, false)
	w.admits(0, fmt.Sprintf("Uepoch %016d %016d", 3, 4))
	w.at(w.now + full)
	w.admits(0, fmt.Sprintf("Uepoch %016d %016d", 3, 4))
	w.isNamed(4, false)
	w.admits(0, "R")
}

// Sentinels that lost their state count from 0 again. When a majority has named the server for some time, this costs a
// quarantine, and the server notes the lower epoch.
func TestSentinelsThatLostTheirStateShutNobodyOut(t *testing.T) {
	w := newWorld(t)
	w.isNamed(3, false)
	w.vote(0)
	w.isNamed(0, false)
	w.admits(0, fmt.Sprintf("Uepoch %016d %016d", 0, 3))
	w.isNamed(0, true)
	w.admits(0, "Qnamed")
	w.isNamed(0, false)
	w.admits(0, "Qnamed")
	w.at(w.now + full)
	w.admits(0, "R")
	w.isNamed(1, false)
	w.admits(0, "Qnamed")
}

// A server that voted for clients without Sentinel is named for the first time: nobody knows since when it is the
// master.
func TestAServerWithoutAnEpochThatIsNamedHasForgotten(t *testing.T) {
	w := voting(t)
	w.isNamed(0, false)
	w.admits(0, "Qnamed")
	w.named = nil
	w.admits(0, "Qnamed")
	w.at(w.now + full)
	w.admits(0, "R")
	w.isNamed(0, false)
	w.admits(0, "R")
}

// Without Sentinel, a client tells how long ago it met another master behind the address.
func TestAServerThatWasLeftOutHasForgotten(t *testing.T) {
	w := newWorld(t)
	w.vote(0)
	began := w.now - full // when the memory began
	w.at(w.now + 5_000_000)
	met := func(at int64, run string) { w.named = []string{"", "", nodescript.Micros(w.now - at), run} }
	met(began, "another") // the master before this one
	w.admits(0, "R")
	met(began+1, w.model.Info.Run) // this server itself: the client knows no other one
	w.admits(0, "R")
	met(began+1, "another")
	w.admits(0, "Qnamed")
	met(began+1, "another") // another client
	w.admits(0, "Qnamed")
	w.at(w.now + full)
	met(began+1, "another")
	w.admits(0, "R")
}

// With a small Window the quarantine of a named server is longer. The client of the former master may use it for a
// second after its last answer from the Sentinels, and a lease ends only 4 W before its TTL.
func TestTheQuarantineOfANamedServerOutlastsTheFormerMaster(t *testing.T) {
	for _, w := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond, time.Second} {
		c := nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: w}
		if got, least := c.NamedQuarantine(), c.Quarantine(); got < least || got < time.Second-4*w+c.MaxTTL+w {
			t.Errorf("W = %s: the quarantine is %s", w, got)
		}
	}
}
