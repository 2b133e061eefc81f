package cli

import (
	"maps"
	"testing"
)

func TestALabelHasNoSpecialCharacters(t *testing.T) {
	for name, want := range map[string]string{
		"plain": `"plain"`, `a"b\c` + "\nd": `"a\"b\\c\nd"`, "a\xffb": "\"a\uFFFDb\"", "é { } =": `"é { } ="`,
	} {
		if got := labelValue(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestOnlyNumbersOfAnOlderFileAreKept(t *testing.T) {
	file := "# HELP a b\n" + runFence + "{name=\"x y} 5\"} 17\n" + runStart + "{name=\"x\"} evil{} 1 2\n" + runDuration + "{name=\"x\"} much\nshort\n{\n"
	want := map[string]string{runFence: "17", runStart: "2", "": ""}
	got := lastValues([]byte(file))
	delete(got, "")
	delete(want, "")
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
