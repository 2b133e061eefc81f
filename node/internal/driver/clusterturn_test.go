package driver

import (
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// A turn ends when the master may have been a replica between two looks, which name the same master. The config-epoch
// and the replication id tell that.
func TestATurnEndsWhenItsMasterWasAReplica(t *testing.T) {
	t.Parallel()
	c, f := fake(t, each("abc", "abc", "a 1 0 99", "b 2 100 16383")...)
	turn, last := 0, 0
	look := func(what string, ends bool, epoch, data string) {
		t.Helper()
		views := each("abc", "abc", "a "+epoch+" 0 99", "b 2 100 16383")
		views[0].data = data
		f.set(views...)
		f.mu.Lock()
		asked := f.asked["a:1"]
		f.mu.Unlock()
		now := looked(t, c, what, func(now *node.Topology) bool { // a round may end before a has answered
			f.mu.Lock()
			defer f.mu.Unlock()
			turn = max(turn, now.Shards[now.Owner[0]].Turn)
			return f.asked["a:1"] > asked+2
		})
		if turn = now.Shards[now.Owner[0]].Turn; (turn > last) != ends {
			t.Errorf("%s: the turn was %d and is %d; want a new one: %v", what, last, turn, ends)
		}
		last = turn
	}
	look("the first turn", true, "1", "")
	look("the same answer", false, "1", "")
	look("a higher epoch without a replication id", true, "3", "")
	look("the replication id for the first time", false, "3", "x")
	look("a slot has come", false, "4", "x")
	look("two failovers", true, "6", "y")
	look("the replication id is not told any more", true, "7", "")
}
