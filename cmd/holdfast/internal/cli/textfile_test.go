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
	const name = "x y} 5"
	label := "{name=" + labelValue(name) + "} "
	file := "# HELP a b\n" + runFence + label + "17\n" + runStart + label + "evil{} 1 2\n" + runDuration + label + "much\nshort\n{\n"
	want := map[string]string{runFence: "17", runStart: "2", "": ""}
	got := lastValues([]byte(file), name)
	delete(got, "")
	delete(want, "")
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, other := range []string{"x", "y", "", name + "5"} { // the file was the one of another name
		if got := lastValues([]byte(file), other); len(got) > 0 {
			t.Errorf("the run of %q keeps %q of the run of %q", other, got, name)
		}
	}
}
