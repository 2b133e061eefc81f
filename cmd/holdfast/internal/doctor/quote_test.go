package doctor

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// hostile are texts that a node may store, and that do harm if a shell reads them.
var hostile = []string{
	"order/1", "$(touch owned)", "`touch owned`", `a"b`, "it's", `\`, `$HOME`, "!!", "*", "a b", "~root", "=ls", ";touch owned", "x\ny", "\t'\\", "ä", "\u200b", "\xff'",
	`\u0041`, `\\"`, "#", "",
}

// A shell reads each quoted text as one word, with the same bytes.
func TestAShellReadsAQuotedTextUnchanged(t *testing.T) {
	for _, s := range hostile {
		c := exec.Command("bash", "-c", "printf %s "+shell(s))
		c.Env = []string{"LC_ALL=C.UTF-8", "HOME=/home"}
		out, err := c.CombinedOutput()
		if err != nil || string(out) != s {
			t.Errorf("%q is %s, and the shell reads %q, %v", s, shell(s), out, err)
		}
	}
}

// The fixes for a lock whose name is a command contain the name in quotes, and redis-cli reads it unchanged.
func TestAFixRunsNoCommandOfAName(t *testing.T) {
	t.Parallel()
	w := newWard(t, 3)
	const name = "$(touch owned)'`id`"
	if _, err := w.vote().Mutex(name).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.config.OlderThan = time.Microsecond
	all := w.examine("stuck")
	if Worst(all) != Warn {
		t.Fatalf("found %+v", all)
	}
	for _, f := range all {
		if f.Severity == Warn && !strings.Contains(f.Fix, `holdfast unlock '$(touch owned)'\''`+"`id`' --force") {
			t.Errorf("the fix is %s", f.Fix)
		}
	}
}

// redis-cli reads each quoted text as one word, with the same bytes.
func TestRedisReadsAQuotedTextUnchanged(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, text := range hostile {
		c := exec.Command("redis-cli", "-u", s.URL(), "--no-raw")
		c.Stdin = strings.NewReader("SET k " + redisText(text) + "\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := s.MustDo(t, "GET", "k"); got != text {
			t.Errorf("%q is %s, and redis-cli reads %q", text, redisText(text), got)
		}
	}
}
