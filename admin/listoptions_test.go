package admin

import "testing"

func TestAPatternMatchesBytes(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"?", "ä", false},
		{"??", "ä", true},
		{"ä*", "äpfel", true},
		{"[ä][ä]x", "äx", true},
		{"[\xf0-\xff]", "\xff", true},
		{"\xff*", "\xff\xfe", true},
		{"\xff?", "\xff\n", true},
		{`\ä`, "ä", true},
		{"[^a]", "\xff", true},
		{"a?c", "a\x00c", true},
		{"ä", "\xc3", false},
	} {
		matches, err := glob(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
		} else if got := matches(c.name); got != c.want {
			t.Errorf("%q matches %q: %t", c.pattern, c.name, got)
		}
	}
}
