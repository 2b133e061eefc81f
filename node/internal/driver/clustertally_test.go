package driver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
)

// say returns the answer of a server. all are the short names of the servers that it lists, and each of owns is the name
// of an owner, its config-epoch and its first and last slot: "a 7 0 99".
func say(self, all string, owns ...string) *view {
	v := &view{self: id(self)}
	for _, name := range all {
		v.members = append(v.members, member{id: id(string(name)), addr: string(name) + ":1"})
	}
	for _, o := range owns {
		var s span
		var owner string
		if _, err := fmt.Sscan(o, &owner, &s.epoch, &s.from, &s.to); err != nil {
			panic(err)
		}
		s.owner = id(owner)
		v.spans = append(v.spans, s)
	}
	return v
}

// each returns the same answer of several servers.
func each(selves, all string, owns ...string) (views []*view) {
	for _, self := range selves {
		views = append(views, say(string(self), all, owns...))
	}
	return views
}

// owners returns the elected owners: "a 0-99, b 100-199", or "none" without a majority.
func owners(c count) string {
	if !c.majority {
		return "none"
	}
	var texts []string
	for _, s := range c.spans {
		var b byte
		fmt.Sscanf(strings.TrimLeft(s.owner, "0"), "%x", &b)
		texts = append(texts, fmt.Sprintf("%c %d-%d", b, s.from, s.to))
	}
	return strings.Join(texts, ", ")
}

// Each case is a sequence of rounds of one client. Six servers need four answers.
func TestAMajorityNamesTheOwnersOfHashSlots(t *testing.T) {
	const all, second = "abcdef", clock.Instant(time.Second)
	a, b := "a 7 0 99", "b 3 100 199"
	moved := []string{"a 7 0 49", "b 9 50 199"} // b got slots of a, and a higher epoch
	type turn struct {
		after clock.Instant // since the turn before
		views []*view
		want  string
	}
	cat := func(parts ...[]*view) (views []*view) {
		for _, p := range parts {
			views = append(views, p...)
		}
		return views
	}
	for name, turns := range map[string][]turn{
		"all agree":       {{0, each(all, all, a, b), "a 0-99, b 100-199"}},
		"four of six":     {{0, each("cdef", all, a, b), "a 0-99, b 100-199"}},
		"three of six":    {{0, each("abc", all, a, b), "none"}},
		"nobody":          {{0, nil, "none"}},
		"no hash slots":   {{0, each("abcd", all), ""}, {0, each("abc", all), "none"}, {0, append(each("abc", all), say("d", "acdef")), "none"}},
		"one server":      {{0, each("a", "a", a), "a 0-99"}},
		"two of two":      {{0, each("ab", "ab", a), "a 0-99"}, {0, each("a", "ab", a), "none"}},
		"a gap of owners": {{0, each(all, all, "a 1 0 0", "a 1 2 2"), "a 0-0, a 2-2"}},

		"slots move": {
			{second, each(all, all, a, b), "a 0-99, b 100-199"},
			{second, cat(each("abc", all, moved...), each("def", all, a, b)), "a 0-49, b 100-199"},
			{second, cat(each("abcd", all, moved...), each("ef", all, a, b)), "a 0-49, b 50-199"},
			{second, cat(each("ab", all, moved...), each("cdef", all, a, b)), "a 0-49"}, // not back
			{clock.Instant(stale) - second - 1, cat(each("ab", all, moved...), each("cdef", all, a, b)), "a 0-49"},
			{1, cat(each("ab", all, moved...), each("cdef", all, a, b)), "a 0-99, b 100-199"}, // the servers forgot
		},
		"a failover": {
			{second, each(all, all, a, b), "a 0-99, b 100-199"},
			{second, each("def", all, "d 8 0 99", b), "none"}, // a minority that was cut off with its replica
			{second, each("bcdef", all, "d 8 0 99", b), "d 0-99, b 100-199"},
			{second, each("abce", all, a, b), "b 100-199"}, // not back
		},
		"an answer with a lower epoch does not count": {
			{second, each(all, all, "a 9 0 99"), "a 0-99"},
			{second, cat(each("abc", all, "a 9 0 99"), each("def", all, "a 8 0 99")), "none"},
			{second, cat(each("abc", all, "a 9 0 99"), each("d", all, "a 10 0 99"), each("ef", all, "a 8 0 99")), "a 0-99"},
		},
		"the epoch that a majority has counts, not the highest": {
			{second, cat(each("ab", all, "a 9 0 99"), each("cdef", all, "a 8 0 99")), "a 0-99"},
			{second, each("cdef", all, "a 8 0 99"), "a 0-99"},
		},
		"a server that was forgotten is no witness": {
			{0, cat(each("abc", "abc", "b 9 0 99"), each("def", all, "a 7 0 99")), "none"},
			{0, cat(each("ab", "abc", "b 9 0 99"), each("c", "abc", a), each("def", all, a)), "none"},
			{0, each("abc", "abc", "b 9 0 99"), "b 0-99"},
		},
		"the servers that are known set the number": {
			{second, each(all, all, a), "a 0-99"},
			{second, each("a", "a", "a 9 0 199"), "none"},
			{clock.Instant(stale) - second - 1, each("a", "a", "a 9 0 199"), "none"},
			{second, each("a", "a", "a 9 0 199"), "a 0-199"}, // the others were forgotten
		},
		"a server leaves": {
			{second, each(all, all, a), "a 0-99"},
			{second, cat(each("abcd", "abcde", a), each("e", all, a)), "a 0-99"},
			{second, each("abc", "abcde", a), "none"}, // of six that are known
			{second, each("abcd", "abcde", a), "a 0-99"},
			{second, each("abc", "abcde", a), "a 0-99"},
		},
		"another cluster has the addresses": {
			{second, each("abcdef", all, a), "a 0-99"},
			{second, cat(each("abcd", all, a), each("xyz", "xyz", "x 9 0 99")), "a 0-99"},
			{second, each("uvwxyz", "uvwxyz", "x 9 0 99"), "none"},
			{clock.Instant(stale), each("uvwxyz", "uvwxyz", "x 9 0 99"), "x 0-99"},
		},
		"two clusters": {{0, cat(each("abc", "abc", a), each("xyz", "xyz", "x 9 0 99")), ""}},
	} {
		var r record
		now := clock.Instant(1000 * second)
		for i, turn := range turns {
			now += turn.after
			c := r.tally(turn.views, now)
			got := owners(c)
			if name == "two clusters" && got == "none" {
				got = ""
			}
			if got != turn.want {
				t.Errorf("%s, turn %d: %q, want %q", name, i, got, turn.want)
			}
			if c.majority {
				r = c.record
			}
		}
	}
}

// A round ends early only if each hash slot with an owner has one that a majority names.
func TestACountIsCompleteWhenNoAnswerDisagrees(t *testing.T) {
	var r record
	for _, c := range []struct {
		views []*view
		want  bool
	}{
		{each("abcd", "abcdef", "a 7 0 99"), true},
		{append(each("abcd", "abcdef", "a 7 0 99"), say("e", "abcdef", "a 7 0 99", "b 8 100 100")), false},
		{append(each("abcd", "abcdef", "a 7 0 99"), say("e", "abcdef", "b 8 0 0", "a 7 1 99")), true}, // four are enough
		{append(each("abc", "abcdef", "a 7 0 99"), say("d", "abcdef", "b 8 0 0", "a 7 1 99")), false},
	} {
		if n := r.tally(c.views, 1); n.complete != c.want || !n.majority {
			t.Errorf("complete is %v, majority %v; want %v", n.complete, n.majority, c.want)
		}
	}
}

// Of more than nine servers, the nine with the lowest digests are asked, and six must agree.
func TestALargeClusterAsksNineServers(t *testing.T) {
	const all = "abcdefghijkl"
	var names string
	var r record
	for _, m := range r.tally(each("a", all), 1).asked {
		var b byte
		fmt.Sscanf(strings.TrimLeft(m.id, "0"), "%x", &b)
		names += string(b)
	}
	others := strings.Map(func(r rune) rune {
		if strings.ContainsRune(names, r) {
			return -1
		}
		return r
	}, all)
	if len(names) != 9 || len(others) != 3 {
		t.Fatalf("%q are asked", names)
	}
	for selves, want := range map[string]string{
		names: "a 0-99", names[:6]: "a 0-99", names[3:]: "a 0-99", names[:5]: "none", names[:5] + others: "none", others: "none",
	} {
		c := r.tally(each(selves, all, "a 7 0 99"), 1)
		if got := owners(c); got != want || c.need != 6 || len(c.asked) != 9 || c.servers != 12 {
			t.Errorf("%s: %q, want %q; %d of %d needed", selves, got, want, c.need, len(c.asked))
		}
	}
	// One server more changes one of the nine at most.
	changed := 0
	for _, m := range r.tally(each("a", all+"m"), 1).asked {
		var b byte
		fmt.Sscanf(strings.TrimLeft(m.id, "0"), "%x", &b)
		if !strings.ContainsRune(names, rune(b)) {
			changed++
		}
	}
	if changed > 1 {
		t.Errorf("%d of the nine servers change", changed)
	}
}

func TestMostAnswersDescribeAServer(t *testing.T) {
	views := each("abc", "abc")
	views[0].members[0] = member{id("a"), "old:1", id("b"), "fail"}
	views[1].members[0] = member{id("a"), "new:1", id("c"), "fail"}
	views[2].members[0] = member{id("a"), "new:1", id("c"), "fail?"}
	if got := merge(views)[0]; got != (member{id("a"), "new:1", id("c"), "fail"}) {
		t.Errorf("%+v", got)
	}
	if got := merge(append(views, say("b", "abc")))[0].state; got != "" {
		t.Errorf("two of four answers call it %q", got)
	}
	if got := merge(views[:2])[0].addr; got != "new:1" {
		t.Errorf("of two addresses with one answer each it is %q", got)
	}
}

func TestAMinorityListsNoWorkingMaster(t *testing.T) {
	failed := say("b", "abd")
	failed.members[2].state = "fail"
	if got := working([]*view{say("a", "abd"), failed, say("c", "c")}, 2); len(got) != 2 || !got[id("a")] || !got[id("b")] {
		t.Errorf("the working masters are %v, want a and b", got)
	}
}
