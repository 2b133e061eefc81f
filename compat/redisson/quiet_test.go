package redisson

import (
	"testing"
	"time"
)

// A holder that came without a message makes the waiter ask soon, for some tries. A message, an unchanged holder and a
// holder that sends messages do not.
func TestAReleaseWithoutAMessageIsNoticed(t *testing.T) {
	t.Parallel()
	held := func(holder, mode string, left time.Duration) *HeldError {
		return &HeldError{Holder: holder, Mode: mode, ExpiresIn: left}
	}
	for name, c := range map[string]struct {
		before, now *HeldError
		woken, want bool
	}{
		"another holder":             {held("a:1", "", time.Second), held("b:1", "", time.Second), false, true},
		"the same holder once more":  {held("a:1", "", time.Second), held("a:1", "", time.Minute), false, true},
		"the same lock":              {held("a:1", "", time.Minute), held("a:1", "", time.Minute), false, false},
		"after a message":            {held("a:1", "", time.Second), held("b:1", "", time.Second), true, false},
		"a holder that announces":    {held("a:1", "", time.Second), held("b:1", "write", time.Second), false, false},
		"after one that announces":   {held("a:1", "write", time.Second), held("b:1", "", time.Second), false, false},
		"a key that never expires":   {held("a:1", "", -1), held("b:1", "", time.Second), false, false},
		"readers beside one another": {held("a:1", "read", time.Second), held("b:1", "read", time.Minute), false, false},
	} {
		var q quiet
		if q.note(c.before, false) {
			t.Errorf("%s: the first refusal is no sign", name)
		}
		if got := q.note(c.now, c.woken); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for range quickTries {
			q.note(c.now, false)
		}
		if q.note(c.now, false) {
			t.Errorf("%s: the waiter asks soon for ever", name)
		}
	}
}
