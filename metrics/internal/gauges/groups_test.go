package gauges

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestWithoutAFunctionAllNamesAreOneGroup(t *testing.T) {
	var began []string
	g, err := NewGroups(nil, 0, func(group string) { began = append(began, group) })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if got := g.Of(fmt.Sprint("order/", i)); got != All {
			t.Fatalf("a name has the group %q", got)
		}
	}
	if !slices.Equal(g.Seen(), []string{All}) || !slices.Equal(began, []string{All}) {
		t.Errorf("groups %q, began %q", g.Seen(), began)
	}
}

func TestGroupsBeyondTheLimitAreOther(t *testing.T) {
	began := map[string]int{}
	g, err := NewGroups(func(name string) string { return name }, 3, func(group string) { began[group]++ })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"", Other}, {"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", Other}, {"a", "a"}, {Other, Other},
	} {
		if got := g.Of(c.name); got != c.want {
			t.Errorf("%q has the group %q, want %q", c.name, got, c.want)
		}
	}
	for i := range 1000 {
		g.Of(fmt.Sprint(i))
	}
	if want := []string{"a", "b", "c", Other}; !slices.Equal(g.Seen(), want) {
		t.Errorf("groups %q, want %q", g.Seen(), want)
	}
	if len(began) != 4 || began["a"] != 1 || began[Other] != 1 {
		t.Errorf("began %v", began)
	}
}

func TestABadGroupIsMadeALabel(t *testing.T) {
	g, err := NewGroups(func(name string) string {
		if name == "panic" {
			panic("a defect of the program")
		}
		return name
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"panic", Other}, {"a\xffb", "a\uFFFDb"}, {strings.Repeat("x", 1000), strings.Repeat("x", longest)},
		{strings.Repeat("x", longest-1) + "é", strings.Repeat("x", longest-1)},
	} {
		if got := g.Of(c.name); got != c.want {
			t.Errorf("%q has the group %q, want %q", c.name, got, c.want)
		}
	}
}

func TestABadNumberOfGroupsIsNamed(t *testing.T) {
	for _, n := range []int{-1, 1001} {
		if _, err := NewGroups(nil, n, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("MaxGroups is %d; it must be from 1 to 1000", n)) {
			t.Errorf("%d: %v", n, err)
		}
	}
}
