package fanout

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// A server refuses all writes: first a renewal finds this, then the greeting. The two errors name other scripts, and
// only one of the answers has a cause. The reason is the same, so it is announced once.
func TestAServerThatRefusesWritesIsOneReason(t *testing.T) {
	refusal := func(script string) error {
		return node.ServerError("MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk. script: " + script)
	}
	renewal := nodescript.Answer{Verdict: nodescript.Failed, Cause: nodescript.SnapshotFailed, Err: refusal("7b27")}
	greeting := nodescript.Answer{Verdict: nodescript.Failed, Err: refusal("2f25")}
	if a, b := refusedBy(renewal), refusedBy(greeting); a != b {
		t.Errorf("two reasons: %+v and %+v", a, b)
	}
	aof := nodescript.Answer{Verdict: nodescript.Failed, Err: node.ServerError("MISCONF Errors writing to the AOF file")}
	if a, b := refusedBy(greeting), refusedBy(aof); a == b {
		t.Errorf("one reason: %+v", a)
	}
}
