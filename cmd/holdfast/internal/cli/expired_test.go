package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A frozen holdfast may learn that the watchdog killed its command before its own lease ends. The lock was lost then,
// too.
func TestACommandThatEndsAfterTheDeadlineHasLostItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over, end := context.WithCancel(t.Context())
		deadline := time.Now()
		time.AfterFunc(10*time.Millisecond, end) // the lease's timer, which is a little late
		if !expired(over, deadline) {
			t.Error("the lock was not lost at its deadline")
		}
		if expired(t.Context(), time.Now().Add(time.Second)) {
			t.Error("the lock was lost before its deadline")
		}
	})
}
