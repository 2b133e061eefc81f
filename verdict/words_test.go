package verdict

import (
	"strings"
	"testing"
	"unicode"
)

func FuzzWords(f *testing.F) {
	f.Add(uint8(ReasonQuarantined), "new", "", "", false)
	f.Add(uint8(ReasonUnfit), "17", "\x1b[2K\n", "", false)
	f.Add(uint8(255), "granted", "x", "y", true)
	f.Add(uint8(ReasonHeld), "", "", "web\n~c~1", true)
	f.Fuzz(func(t *testing.T, reason uint8, cause, value, owner string, foreign bool) {
		n := Answer{
			Node: "a", Reason: Reason(reason), Cause: Cause(cause), Value: value, Owner: owner, Foreign: foreign,
			Settings: []Difference{{value, owner, cause}}, Members: &Members{Node: []Server{{value, owner}}},
		}
		for _, s := range []string{n.Said(), n.Why(), n.String()} {
			if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }) {
				t.Errorf("%+v is said as %q", n, s)
			}
		}
		if n.Votes() && Reason(reason) != ReasonVotes {
			t.Errorf("%+v votes", n)
		}
	})
}
