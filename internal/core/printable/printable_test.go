package printable

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatANodeSaidIsOneLineThatShowsItself(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"ERR no such key":         "ERR no such key",
		"größer als 5 €":          "größer als 5 €",
		"a\nholdfast: granted":    `a\nholdfast: granted`,
		"\x1b[2K\x1b[1Agranted":   `\x1b[2K\x1b[1Agranted`,
		"\u009b31m":               `\u009b31m`,
		"\u202egnp.exe":           `\u202egnp.exe`,
		"\xff\x00\r":              `\xff\x00\r`,
		strings.Repeat("x", 2000): strings.Repeat("x", most) + "…",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\n", "\x1b", "\xff", "\u202e", "\uFFFD", "\u009b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Text(s)} {
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) || len(got) > 20*most {
				t.Errorf("%q is shown as %q", s, got)
			}
		}
	})
}
