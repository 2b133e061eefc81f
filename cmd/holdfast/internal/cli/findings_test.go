package cli

import (
	"bytes"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
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
	}, 1, true); err != nil {
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
      fix: end b if it hangs;
           if you cannot: holdfast unlock 'a; rm -rf x' --force --owner b
0 bad, 2 warn, 0 note
`; out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// Equal notes about several nodes are one finding, and so are checks that are not known for the same reason.
func TestEqualNotesArePrintedOnce(t *testing.T) {
	var out bytes.Buffer
	note := func(check, node, state, fix string) doctor.Finding {
		return doctor.Finding{Check: check, Node: node, Severity: doctor.Note, State: state, Fix: fix}
	}
	if err := printFindings(&out, []doctor.Finding{
		note("default-user", "redis://a:1/0", "lets anybody in", "redis-cli -u redis://a:1 ACL SETUSER default '>PASSWORD; x'; then use it"),
		note("default-user", "redis://a:2/0", "lets anybody in", "redis-cli -u redis://a:2 ACL SETUSER default '>PASSWORD; x'; then use it"),
		note("foreign", "", "not known: connection refused", "mend the check answer"),
		note("kinds", "", "not known: connection refused", "mend the check answer"),
		note("stuck", "", "not known: connection refused", "mend the check answer"),
	}, 3, true); err != nil {
		t.Fatal(err)
	}
	if want := `      CHECK         NODE    STATE
note  default-user  others  lets anybody in
      fix: redis-cli -u NODE ACL SETUSER default '>PASSWORD; x'; then use it
note  foreign       all
        not known: connection refused (the same for kinds, stuck)
      fix: mend the check answer
0 bad, 0 warn, 2 note
`; out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// A fix is split between its commands, and never in quotes.
func TestAFixIsSplitOutsideOfQuotes(t *testing.T) {
	for fix, want := range map[string][]string{
		"a; b && c":                {"a;", "b &&", "c"},
		"the node's name; b":       {"the node's name;", "b"},
		`holdfast 'it'\''s; x'; b`: {`holdfast 'it'\''s; x';`, "b"},
		`DEL "a\"; b"; c`:          {`DEL "a\"; b";`, "c"},
		"DEL 'a; b":                {"DEL 'a; b"},
	} {
		if got := clauses(fix); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", fix, got, want)
		}
	}
}

// Without --all only findings are printed, and each cause once.
func TestACauseIsPrintedOnce(t *testing.T) {
	var out bytes.Buffer
	if err := printFindings(&out, []doctor.Finding{
		{Check: "answer", Node: "redis://a:1/0", State: "answers"},
		{Check: "answer", Node: "redis://b:1/0", Severity: doctor.Bad, State: "no answer: connection refused", Fix: "start the server"},
		{Check: "count", Severity: doctor.Warn, State: "no more may fail", Fix: "mend the nodes"},
		{Check: "votes", Node: "redis://a:1/0", State: "votes"},
		{Check: "votes", Node: "redis://b:1/0", Severity: doctor.Bad, State: "does not vote", Fix: "see the check answer", Cause: "answer"},
		{Check: "votes", Node: "redis://c:1/0", Severity: doctor.Bad, State: "does not vote", Fix: "see the check memory", Cause: "memory"},
		{Check: "tls", State: "no TLS, on this machine"},
	}, 3, false); err != nil {
		t.Fatal(err)
	}
	if want := `      CHECK   NODE           STATE
bad   answer  redis://b:1/0  no answer: connection refused
      fix: start the server
bad   votes   redis://c:1/0  does not vote
      fix: see the check memory
warn  count   all            no more may fail
      fix: mend the nodes
2 bad, 1 warn, 0 note; 1 check without a finding (--all shows them)
`; out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
