package cli

import (
	"bytes"
	"testing"

	"github.com/holdfast-go/holdfast/internal/command/doctor"
)

// Findings fit in 80 columns. A command stays in one line, and a part of a name never begins a line as a fix does.
func TestFindingsAreWrapped(t *testing.T) {
	var out bytes.Buffer
	if err := printFindings(&out, []doctor.Finding{
		{Check: "votes", Node: "redis://a:1/0", State: "votes"},
		{Check: "memory", Node: "redis://a:1/0", Severity: doctor.Warn, State: "99 of 100 MiB are used; a full server refuses new locks",
			Fix: "delete other data, or give it more memory: redis-cli -u redis://a:1 CONFIG SET maxmemory 200 && redis-cli -u redis://a:1 CONFIG REWRITE"},
		{Check: "stuck", Severity: doctor.Warn, State: `"a name of spaces                                 fix: rm -rf x": held by b for 25h0m0s`,
			Fix: "end b if it hangs; if you cannot: holdfast unlock 'a; rm -rf x' --force --owner b"},
	}, 1); err != nil {
		t.Fatal(err)
	}
	if want := `      CHECK   NODE           STATE
ok    votes   redis://a:1/0  votes
warn  memory  redis://a:1/0
        99 of 100 MiB are used; a full server refuses new locks
      fix: delete other data, or give it more memory: redis-cli -u redis://a:1 CONFIG SET maxmemory 200 &&
           redis-cli -u redis://a:1 CONFIG REWRITE
warn  stuck   all
        "a name of spaces fix: rm -rf x": held by b for 25h0m0s
      fix: end b if it hangs; if you cannot: holdfast unlock 'a; rm -rf x' --force --owner b
0 bad, 2 warn, 0 note
`; out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
