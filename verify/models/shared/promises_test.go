package shared

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

// TestReadersAndWritersExcludeEachOther visits every state of each configuration.
func TestReadersAndWritersExcludeEachOther(t *testing.T) {
	for _, c := range []struct {
		name string
		size explore.Size
		Config
	}{
		{"a writer and a reader, timely", explore.Small, Config{Writers: 1, Readers: 1, Stamps: 2, Timely: true}},
		{"a writer and a reader", explore.Small, Config{Writers: 1, Readers: 1, Stamps: 2}},
		{"passes, tombstones capped", explore.Small, Config{Writers: 1, Readers: 1, Stamps: 2, Passes: true, AnyClock: true}},
		{"three stamps, timely", explore.Small, Config{Writers: 1, Readers: 1, Stamps: 3, Timely: true}},
		{"three stamps", explore.Full, Config{Writers: 1, Readers: 1, Stamps: 3}},
		{"three stamps, passes, timely", explore.Full, Config{Writers: 1, Readers: 1, Stamps: 3, Passes: true, Timely: true}},
		{"two stamps each, parts given back", explore.Full, Config{Writers: 1, Readers: 1, Stamps: 2, Rounds: 2, GiveBack: true}},
		{"hand-offs, timely", explore.Full, Config{Writers: 1, Readers: 1, Stamps: 2, HandOffs: true, Timely: true}},
		{"memory lost", explore.Full, Config{Writers: 1, Readers: 1, Stamps: 2, Wipes: 1}},
		{"two writers and a reader, timely", explore.Full, Config{Writers: 2, Readers: 1, Stamps: 2, Timely: true}},
		{"a writer and two readers, timely", explore.Large, Config{Writers: 1, Readers: 2, Stamps: 2, Timely: true}},
		{"two readers, expired entries removed", explore.Small, Config{Readers: 2, Stamps: 1, Sweeps: true}},
		{"a writer and two readers, one stamp, expired entries removed, timely", explore.Full, Config{Writers: 1, Readers: 2, Stamps: 1, Sweeps: true, Timely: true}},
		{"hand-offs", explore.Large, Config{Writers: 1, Readers: 1, Stamps: 2, HandOffs: true}},
	} {
		if !c.size.Wanted() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			explore.Holds[State](t, "shared: "+c.name, Model{c.Config})
		})
	}
}

// TestEachRuleOfReadersIsNeeded leaves out one rule at a time: a promise must break.
func TestEachRuleOfReadersIsNeeded(t *testing.T) {
	timely := Config{Writers: 1, Readers: 1, Stamps: 2, Timely: true}
	two := Config{Writers: 1, Readers: 1, Stamps: 2}
	three := Config{Writers: 1, Readers: 1, Stamps: 3}
	rounds := Config{Writers: 1, Readers: 1, Stamps: 2, Rounds: 2, GiveBack: true}
	handOffs := Config{Writers: 1, Readers: 1, Stamps: 2, HandOffs: true}
	passes := Config{Writers: 2, Readers: 1, Stamps: 3, Passes: true}
	clocks := Config{Writers: 1, Readers: 1, Stamps: 2, AnyClock: true}
	readers := Config{Writers: 1, Readers: 2, Stamps: 2, Timely: true}
	writers := Config{Writers: 2, Readers: 1, Stamps: 3}
	for i, c := range []struct {
		name    string
		promise Promise
		without Rule
		Config
	}{
		{"a writer does not see readers", Exclusion, WritersSeeReaders, timely},
		{"a reader does not see writers", Exclusion, ReadersSeeWriters, timely},
		{"a writer may be below readers", TokensGrow, AboveReaders, two},
		{"a reader may be below writers", TokensGrow, AboveWriters, two},
		{"a late acquire lowers a reader's token", OwnersOnly, AboveOwn, rounds},
		{"a reader's grant does not raise rseen", TokensGrow, GrantsAreRead, two},
		{"a reader's claim is answered as a grant", Exclusion, ClaimIsNoGrant, Config{Writers: 1, Readers: 1, Stamps: 2, HandOffs: true, Timely: true}},
		{"a pass to a reader takes from whoever has it", OwnersOnly, PassNamesOwner, passes},
		{"a reader leaves the expired writer's grant", OwnersOnly, DeadWriterGoes, two},
		{"a writer that a reader displaced is forgotten", LostStaysLost, DeadWriterLeased, three},
		{"a writer leaves expired entries", LostStaysLost, DeadReadersGo, two},
		{"readers that a writer displaced are forgotten", LostStaysLost, DeadReadersLeased, two},
		{"extend prolongs any entry of its owner, also a claim", LostStaysLost, ExtendNamesToken, handOffs},
		{"a reader is repaired beside a writer", OwnersOnly, RepairSeesWriters, two},
		{"a reader's repair ignores later writers", LostStaysLost, RepairLeased, three},
		{"a reader's repair ignores its release", NoGhost, RepairFresh, two},
		{"a writer is repaired beside a reader", OwnersOnly, RepairSeesReaders, two},
		{"a writer's repair ignores later readers", LostStaysLost, RepairRLeased, two},
		{"a reader that was given back ends no writer", LostStaysLost, ReadersEnd, two},
		{"a reader's release leaves no tombstone", NoGhost, Tombstone, two},
		{"a reader's capped tombstone may be below its grant", NoGhost, OwnTombstone, clocks},
		{"entries without T: a release frees a later grant", OwnersOnly, ReleaseCovered, rounds},
		{"a release removes entries that seem dead", Exclusion, ReleaseOwnOnly, readers},
		{"an abort ends the memory of readers", LostStaysLost, ForgetByLease, writers},
		{"N/2 nodes are enough", Exclusion, MoreThanHalf, timely},
	} {
		if c.Writers == 2 && c.without == ForgetByLease && !explore.Large.Wanted() {
			continue // twelve million states
		}
		if testing.Short() && i%3 != 0 {
			continue
		}
		c.Config.Without, c.Config.Ask = c.without, c.promise
		t.Run(c.name, func(t *testing.T) {
			explore.Breaks[State](t, "shared: "+c.name, Model{c.Config})
		})
	}
}
