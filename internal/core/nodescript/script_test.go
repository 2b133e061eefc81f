package nodescript

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestQuotedBytesReachLuaAsTheyAre(t *testing.T) {
	s := redistest.Start(t)
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
		one := string([]byte{byte(b)})
		if got := s.MustDo(t, "EVAL", "return '"+quote(one)+"'", 0); got != one {
			t.Errorf("byte %d reached Lua as %q", b, got)
		}
		// A digit after the escape must not become part of it.
		if got := s.MustDo(t, "EVAL", "return '"+quote(one+"7")+"'", 0); got != one+"7" {
			t.Errorf("byte %d and a digit reached Lua as %q", b, got)
		}
	}
	for _, text := range []string{all.String(), "' .. redis.call('FLUSHALL') .. '", `\`, `\'`, "]]", "@GUARD@"} {
		if got := s.MustDo(t, "EVAL", "return '"+quote(text)+"'", 0); got != text {
			t.Errorf("%q reached Lua as %q", text, got)
		}
	}
}

// No text of a server becomes a command, whatever its run id is.
func TestHostileRunIDStaysAString(t *testing.T) {
	s := redistest.Start(t)
	s.MustDo(t, "SET", "k", "v")
	c := Config{N: 1, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Cluster: "' .. redis.call('FLUSHALL') .. '@RUN@\\"}
	scripts := NewScripts(c, "'..redis.call('FLUSHALL')..'\n@CONFIG@\x00")
	if v, err := s.Do("EVAL", scripts.Admit, 0, Micros(0), Micros(1<<62)); err == nil || !strings.HasPrefix(err.Error(), OtherRun+" ") {
		t.Errorf("admit for another run id answers %q, %v", v, err)
	}
	for _, text := range scripts.Load() {
		s.MustDo(t, "SCRIPT", "LOAD", text)
	}
	if s.MustDo(t, "GET", "k") != "v" {
		t.Error("a run id was executed")
	}
}

func TestScriptsOfTwoIncarnationsOrConfigurationsDiffer(t *testing.T) {
	a := Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond}
	b := a
	b.MaxTTL++
	seen := map[string]string{}
	for _, s := range []*Scripts{NewScripts(a, "r1"), NewScripts(a, "r2"), NewScripts(b, "r1")} {
		for op := range ops {
			if other := seen[s.SHA(op)]; other != "" && !op.GivesBack() { // these scripts need no guard
				t.Errorf("%s for %s has the digest of %s", op, s.Run, other)
			}
			seen[s.SHA(op)] = op.String() + " for " + s.Run
		}
		for _, text := range append(s.Load(), s.Admit, HelloText(), InspectText()) {
			if i := strings.Index(text, "@"); i >= 0 {
				t.Errorf("a placeholder was left in a script: %.40q", text[i:])
			}
		}
	}
}
