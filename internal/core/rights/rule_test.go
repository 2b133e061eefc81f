package rights

import (
	"slices"
	"strings"
	"testing"
)

func TestARuleNamesOnlyTheKeysOfItsPrefixes(t *testing.T) {
	u := User{Name: "jobs", Roles: Locker, Prefixes: []string{"jobs/", `a*[?]\`}}
	want := []string{"jobs/*", "{jobs/*", `a\*\[\?\]\\*`, `{a\*\[\?\]\\*`, "holdfast:node*"}
	if got := u.Keys(); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got := (User{Roles: Observer | Admission}).Keys(); !slices.Equal(got, []string{"*"}) {
		t.Errorf("keys %q", got)
	}
	if got := (User{Roles: Admission, Prefixes: []string{"x"}}).Keys(); !slices.Equal(got, []string{"holdfast:node*"}) {
		t.Errorf("keys %q", got)
	}
}

func TestARuleHasADigestAndNoPassword(t *testing.T) {
	u := User{Name: "jobs", Roles: Locker, Password: "secret"}
	const digest = "#2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // printf secret | sha256sum
	for _, rule := range []string{strings.Join(u.SetUser(), " "), u.Line()} {
		if strings.Contains(rule, "secret") || !strings.Contains(rule, digest) {
			t.Errorf("rule %q", rule)
		}
	}
}

func TestRolesTogetherHaveTheRightsOfEach(t *testing.T) {
	both := User{Roles: Locker | Observer | Operator}.Commands()
	for _, one := range []Role{Locker, Observer, Operator} {
		for _, right := range (User{Roles: one}).Commands() {
			if !slices.Contains(both, right) {
				t.Errorf("%s is missing", right)
			}
		}
	}
	slices.Sort(both)
	if len(slices.Compact(both)) != len(both) {
		t.Errorf("a right comes twice: %q", both)
	}
	if got := (User{Roles: Locker, Durable: true}).Commands(); !slices.Contains(got, "config|get") {
		t.Errorf("rights of a durable set: %q", got)
	}
	for _, role := range []Role{Locker, Observer, Operator, Admission} {
		for _, confirmed := range []bool{false, true} {
			if got := (User{Roles: role, Confirmed: confirmed}).Commands(); slices.Contains(got, "wait") != (confirmed && role == Locker) {
				t.Errorf("rights of a %s, with grants that replicas confirm %t: %q", role, confirmed, got)
			}
		}
	}
}

func TestABadUserIsRefused(t *testing.T) {
	for _, u := range []User{{}, {Name: "a b"}, {Name: "a\x00"}, {Name: "a", Prefixes: []string{""}}, {Name: "a", Prefixes: []string{"a b"}}, {Name: "a", Prefixes: []string{"holdfast:node"}}} {
		if u.Check() == nil {
			t.Errorf("%+v is accepted", u)
		}
	}
	for _, text := range []string{"", "king", "locker,", "Locker"} {
		if r, err := ParseRoles(text); err == nil {
			t.Errorf("%q is the role %v", text, r)
		}
	}
	if r, err := ParseRoles("locker, admission"); r != Locker|Admission || err != nil || r.String() != "locker,admission" {
		t.Errorf("%v, %v", r, err)
	}
}
