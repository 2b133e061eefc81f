package nodemodel

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// admitted returns a node that votes, and a function that runs an operation on it and fails if the answer begins with
// another byte than want.
func admitted(t *testing.T, now *int64, config nodescript.Config) (n *Node, run func(op nodescript.Op, c nodescript.Call, want byte)) {
	n = New("model", func() int64 { return *now }, Info{Run: "run", Role: "master", Policy: "noeviction"}, config)
	s := script{config: config, run: "run", guard: config.String() + " run"}
	n.setText(nodescript.GuardKey, s.guard, 1<<50)
	n.setFields(nodescript.AdmissionKey, map[string]string{"evicted": "0"})
	return n, func(op nodescript.Op, c nodescript.Call, want byte) {
		t.Helper()
		s.op = op
		answer, err := n.call(s, node.Call{Keys: c.Keys, Args: c.Args})
		if err != nil || answer[0] != want {
			t.Fatalf("%s: %q, %v", op, answer, err)
		}
	}
}

// A lock does not always set the expiry of its record anew. Still the record outlasts each granted or renewed lease,
// and each release, by RecordKept.
func TestARecordOutlastsWhatItTells(t *testing.T) {
	const steps = 20_000
	now, config := int64(start), configs[0]
	n, run := admitted(t, &now, config)
	l, random := nodescript.Lock{Name: "x"}, rand.New(rand.NewPCG(1, 0))
	kept := 0
	var set int64
	outlasts := func(lease int64) {
		t.Helper()
		v := n.keys[nodescript.RecordKey("x")]
		if left := v.expires*1000 - now - lease; left < nodescript.RecordKept.Microseconds() {
			t.Fatalf("at %d the record has %s beyond what it tells", now, time.Duration(left)*time.Microsecond)
		}
		if v.expires == set {
			kept++
		}
		set = v.expires
	}
	for range steps {
		now += random.Int64N([]int64{1000, 1_000_000, 130_000_000}[random.IntN(3)])
		n.sweep()
		ttl := 2*time.Second + time.Duration(random.Int64N(int64(config.MaxTTL-2*time.Second)))
		owner, T := []string{"a~b~c-1", "a~b~c-2", "longer~b~c-3"}[random.IntN(3)], now+random.Int64N(2*W)-W
		if r, _ := n.record(nodescript.RecordKey("x")); T <= r.Seen {
			T = r.Seen + 1
		}
		if T > now+W {
			continue
		}
		run(nodescript.Acquire, nodescript.AcquireCall(l, owner, T, ttl), 'G')
		outlasts(ttl.Microseconds() + T - now)
		highest := T
		for random.IntN(2) == 0 {
			now += random.Int64N(ttl.Microseconds() / 2)
			highest = max(now, highest+1)
			run(nodescript.Extend, nodescript.ExtendCall(l, owner, T, highest, now+W, ttl, time.Duration(W)*time.Microsecond), 'E')
			outlasts(ttl.Microseconds())
		}
		now += random.Int64N(ttl.Microseconds() / 2)
		run(nodescript.Release, nodescript.ReleaseCall(l, owner, highest), 'D')
		outlasts(0)
	}
	if kept < steps/20 {
		t.Errorf("the record's time stayed as it was %d times in %d locks: that is not what was to be tested", kept, steps)
	}
}

// The same holds for readers: the record and the hash of readers both outlast each of their leases.
func TestTheRecordOfReadersOutlastsThem(t *testing.T) {
	const steps = 20_000
	now, config := int64(start), configs[0]
	n, run := admitted(t, &now, config)
	l, random := nodescript.Lock{Name: "x"}, rand.New(rand.NewPCG(1, 0))
	record := nodescript.RecordKey("x")
	hash := nodescript.ReadersKey(record)
	kept := 0
	var set int64
	outlasts := func(lease int64) {
		t.Helper()
		for _, key := range []string{record, hash} {
			if left := n.keys[key].expires*1000 - now - lease; left < nodescript.RecordKept.Microseconds() {
				t.Fatalf("at %d %s has %s beyond a reader's lease", now, key, time.Duration(left)*time.Microsecond)
			}
		}
		if n.keys[record].expires == set {
			kept++
		}
		set = n.keys[record].expires
	}
	owners := []string{"a~b~c-1~r", "a~b~c-2~r", "longer~b~c-3~r"}
	granted := map[string]int64{} // the tokens of live leases
	for range steps {
		now += random.Int64N([]int64{1000, 1_000_000, 130_000_000}[random.IntN(3)])
		n.sweep()
		ttl := 2*time.Second + time.Duration(random.Int64N(int64(config.MaxTTL-2*time.Second)))
		owner, T := owners[random.IntN(len(owners))], now+random.Int64N(2*W)-W
		if r, _ := n.record(record); T <= max(r.Seen, granted[owner]) {
			T = max(r.Seen, granted[owner]) + 1
		}
		if T >= now+W {
			continue
		}
		run(nodescript.AcquireShared, nodescript.AcquireCall(l, owner, T, ttl), 'G')
		granted[owner] = T
		outlasts(ttl.Microseconds() + T - now)
		highest := T
		if random.IntN(2) == 0 {
			highest = max(now, T+1)
			run(nodescript.ExtendShared, nodescript.ExtendCall(l, owner, T, highest, now+W, ttl, time.Duration(W)*time.Microsecond), 'E')
			outlasts(ttl.Microseconds() + highest - now)
		}
		if random.IntN(2) == 0 {
			now += random.Int64N(1_000_000)
			run(nodescript.ReleaseShared, nodescript.ReleaseCall(l, owner, highest), 'D')
			outlasts(0)
		}
	}
	if kept < steps/20 {
		t.Errorf("the time of the record stayed as it was %d times in %d locks: that is not what was to be tested", kept, steps)
	}
}
