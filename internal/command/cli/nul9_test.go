package cli

import (
	"strings"
	"testing"
)

// --check finds bytes and variables that no command can have, and names a line that is too long.
func TestACheckFindsCommandsThatCannotStart(t *testing.T) {
	for file, want := range map[string]string{
		"every 1h x echo a\x00b\n":                                   "f:1: ",
		"every 1h x\x00y true\n":                                     "f:1: ",
		"A=\x00\nevery 1h x true\n":                                  "f:1: ",
		"every 1h x true\nevery 1h y " + strings.Repeat("x", 70_000): "f:2: ",
		"HOLDFAST_FENCE=1\nevery 1h x true\n":                        "f:1: ",
	} {
		if _, err := parseCrontab("f", strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", file, err)
		}
	}
}
