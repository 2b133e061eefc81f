package redisson

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Any server may be at the address. Its answers are read as what they are, or are an error of one line.
func TestAnswersAreReadOrRefused(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]answer{
		"G":                      {verdict: granted},
		"G17":                    {verdict: granted, token: 17},
		"H250 2 -\nid:7":         {verdict: held, left: 250 * time.Millisecond, count: 2, holder: "id:7"},
		"H-1 1 read\nid:7\nrest": {verdict: held, left: -time.Millisecond, count: 1, mode: "read", holder: "id:7\nrest"},
		"Kstring 9\nvalue":       {verdict: otherKind, kind: "string", left: 9 * time.Millisecond, value: "value"},
		"C":                      {verdict: cancelled},
		"R":                      {verdict: done},
		"L":                      {verdict: gone},
	} {
		if got := parse(node.Reply{Value: value}); got != want {
			t.Errorf("%q is read as %+v, want %+v", value, got, want)
		}
	}
	for _, value := range []string{"", "X", "H", "H1", "H1 2", "H1 2 3 4", "K", "Kstring", "C1", "Rx", "Lx", "\x00\n", strings.Repeat("H ", 99)} {
		got := parse(node.Reply{Value: value})
		if got.verdict != silent || got.err == nil || strings.Contains(got.String(), "\n") {
			t.Errorf("%q is read as %+v", value, got)
		}
	}
	if got := parse(node.Reply{Value: "H99999999999999999999 1 -\nx"}); got.left < 0 {
		t.Errorf("a time that does not fit is %v", got.left)
	}
	broken := errors.New("broken")
	if got := parse(node.Reply{Value: "G", Err: broken}); got.verdict != silent || !errors.Is(got.err, broken) {
		t.Errorf("an error is read as %+v", got)
	}
}

// Prefixes follow prefixName of Redisson's RedissonObject.
func TestKeysOfAName(t *testing.T) {
	t.Parallel()
	for name, braced := range map[string]string{"a": "{a}", "a{b}": "a{b}"} {
		want := keys{
			name: name, channel: "redisson_lock__channel:" + braced, token: "redisson_lock_token:" + braced,
			latch: "redisson_unlock_latch:" + braced, rwChannel: "redisson_rwlock:" + braced, readers: braced,
			queue: "redisson_lock_queue:" + braced, queueEnds: "redisson_lock_timeout:" + braced,
		}
		if got := keysOf(name); got != want {
			t.Errorf("%+v", got)
		}
	}
}
