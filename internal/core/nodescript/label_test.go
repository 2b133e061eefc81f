package nodescript

import "testing"

func TestALabelThatNoClientHasIsQuoted(t *testing.T) {
	for owner, want := range map[string]string{
		"web-3/4711~client~1-x":            "web-3/4711",
		"web~left~left":                    "web",
		"web for up to 1s; x: granted~c~1": `"web for up to 1s; x: granted~c~1"`,
		"\x1b[31mweb~c~1":                  `"\\x1b[31mweb~c~1"`,
		"":                                 `""`,
		"~c~1":                             `"~c~1"`,
	} {
		if got := Label(owner); got != want {
			t.Errorf("%q is called %s, want %s", owner, got, want)
		}
	}
}
