package nodescript

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/node"
)

// Scripts answer only codes and numbers. Only words.go of the root package makes sentences.
func TestNoScriptContainsASentence(t *testing.T) {
	literal, words := regexp.MustCompile(`'[^'\n]*'`), regexp.MustCompile(`[A-Za-z]{2,} [a-z]{2,}`)
	list, err := files.ReadDir("lua")
	if err != nil || len(list) < 10 {
		t.Fatalf("%d scripts: %v", len(list), err)
	}
	for _, f := range list {
		for _, l := range literal.FindAllString(text(strings.TrimSuffix(f.Name(), path.Ext(f.Name()))), -1) {
			if words.MatchString(l) {
				t.Errorf("%s says %s", f.Name(), l)
			}
		}
	}
}

// The codes in admit.lua and quarantine.lua, and those of ofQuarantine and ofUnfit are the same.
func TestEveryCodeOfAdmitIsACause(t *testing.T) {
	script := text("admit") + text("quarantine")
	codes := func(patterns ...string) (all []string) {
		for _, p := range patterns {
			for _, m := range regexp.MustCompile(p).FindAllStringSubmatch(script, -1) {
				all = append(all, m[1])
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	for what, c := range map[string]struct {
		has   []string
		wants []Cause
	}{
		"quarantine": {codes(`lost\('([a-z-]+)'`, `and '(unused)' or`, `and '(idle)'`, `quarantine\(@TRUSTED@, '([a-z-]+)'`, `quarantine\(.* or '([a-z-]+)'`), ofQuarantine},
		"unfit":      {codes(`return 'U([a-z-]+) ?'`), ofUnfit},
	} {
		var wants []string
		for _, w := range c.wants {
			wants = append(wants, w.String())
		}
		slices.Sort(wants)
		if !slices.Equal(c.has, wants) {
			t.Errorf("%s: admit answers %q; the client knows %q", what, c.has, wants)
		}
	}
}

func TestCodesAreDistinctWords(t *testing.T) {
	seen := map[string]Cause{}
	for c := UnknownCause; c < causes; c++ {
		code := c.String()
		if other, twice := seen[code]; twice || !regexp.MustCompile(`^[a-z-]+$`).MatchString(code) {
			t.Errorf("cause %d has the code %q, as %d", c, code, other)
		}
		seen[code] = c
	}
	if got := causes.String(); got != "unknown" {
		t.Errorf("a cause that is none has the code %q", got)
	}
}

// A newer node may refuse for a reason that this client does not know. The answer still counts as a refusal.
func TestACodeOfANewerNodeIsARefusal(t *testing.T) {
	q := "Q" + now16 + "0000000005000000" + challenge40
	for reply, want := range map[string]struct {
		verdict Verdict
		cause   Cause
		value   string
	}{
		q + "17":          {Quarantined, UnknownCause, "17"},
		q + "restarted":   {Quarantined, Restarted, ""},
		q:                 {Quarantined, NoCause, ""},
		q + "role":        {Quarantined, UnknownCause, "role"}, // known, but not a cause of a quarantine
		"U17 sharded":     {Unfit, UnknownCause, "17"},
		"Urole slave":     {Unfit, RoleNotMaster, "slave"},
		"Ucluster":        {Unfit, ClusterMode, ""},
		"U":               {Unfit, NoCause, ""},
		"W17":             {Failed, NoCause, ""},
		"R17":             {Failed, NoCause, ""},
		"R" + now16 + "1": {Failed, NoCause, ""},
	} {
		a := ParseAdmit(fuzzed, node.Reply{Value: reply})
		if a.Verdict != want.verdict || a.Cause != want.cause || a.Value() != want.value {
			t.Errorf("%q is read as %+v", reply, a)
		}
	}
	for _, reply := range []string{"G2", "G17", "Z", "g0", "G01"} {
		if a := ParseReply(Acquire, node.Reply{Value: reply}); a.Verdict != Failed {
			t.Errorf("%q is read as %+v", reply, a)
		}
	}
}

func TestDifferencesAreTheSettingsThatDiffer(t *testing.T) {
	ours := fuzzed.String()
	other := fuzzed
	other.MaxTTL *= 2
	want := []Difference{{"max-ttl", "20s", "10s"}}
	if got := Differences(other.String(), ours); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	want = []Difference{{"durable", "", "no"}, {"sharded", "yes", ""}}
	if got := Differences(strings.Replace(ours, " durable=no", "", 1)+" sharded=yes", ours); !slices.Equal(got, want) {
		t.Errorf("a setting that only one side has: %+v", got)
	}
	if got := Differences(strings.Repeat("x= y=1 ", 1000)+strings.Repeat("z", 1000), ours); len(got) > mostDifferences {
		t.Errorf("%d differences", len(got))
	}
}

// Only refusals have Evidence, so a grant allocates nothing.
func TestAGrantIsReadWithoutAnAllocation(t *testing.T) {
	for op, reply := range map[Op]string{Acquire: "G0", Extend: "E", Release: "D"} {
		if n := testing.AllocsPerRun(100, func() {
			if a := ParseReply(op, node.Reply{Value: reply}); a.Evidence != nil {
				t.Error("a yes with evidence")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", op, n)
		}
	}
}
