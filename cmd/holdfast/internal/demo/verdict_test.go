package demo

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// history returns records in which every promise is kept: worker 1 is killed after it wrote, and worker 2 is frozen.
func history() []record {
	return []record{
		{what: entered, at: 10, worker: 0, token: 100}, {what: wrote, at: 20, worker: 0, token: 100},
		{what: entered, at: 30, worker: 1, token: 110}, {what: killed, at: 35, worker: 1, token: 110},
		{what: entered, at: 40, worker: 2, token: 120}, {what: froze, at: 45, worker: 2, token: 120},
		{what: entered, at: 50, worker: 0, token: 130}, {what: wrote, at: 60, worker: 0, token: 130},
		{what: entered, at: 65, worker: 1, token: 140},
		{what: noticed, at: 70, worker: 2, token: 120}, {what: rejected, at: 71, worker: 2, token: 120},
		{what: wrote, at: 80, worker: 1, token: 140},
	}
}

func TestVerdictFindsEveryBrokenPromise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func([]record) []record
		found  int64
		early  []string
		never  bool
		broken string
	}{
		"all kept":                               {found: 3},
		"a killed worker had written":            {found: 4},
		"an increment is lost":                   {found: 2, broken: "increments"},
		"an increment came from nowhere":         {found: 5, broken: "increments"},
		"two inside":                             {found: 3, broken: "one at a time", change: move(6, 19)},
		"entered while the killed one was there": {found: 3, broken: "one at a time", change: move(4, 34)},
		"a token is smaller":                     {found: 3, broken: "tokens", change: token(8, 125)},
		"a token is the same":                    {found: 3, broken: "tokens", change: token(8, 130)},
		"the frozen one noticed nothing":         {found: 3, broken: "frozen holder", change: drop(noticed)},
		"nothing refused it":                     {found: 3, broken: "frozen holder", change: drop(rejected)},
		"its old token was accepted":             {found: 3, broken: "frozen holder", change: rename(rejected, accepted)},
		"a node voted too early":                 {found: 3, broken: "restarted nodes", early: []string{"node 2"}},
		"no restarted node voted":                {found: 3, broken: "restarted nodes", never: true},
		"nobody was killed":                      {found: 3, broken: "killed holder", change: drop(killed)},
	} {
		t.Run(name, func(t *testing.T) {
			list := history()
			if c.change != nil {
				list = c.change(list)
			}
			v := judgementOn(list, c.found, c.early, !c.never)
			var broken []string
			for _, p := range v.promises {
				if !p.kept {
					broken = append(broken, p.name)
				}
			}
			if got := strings.Join(broken, ", "); got != c.broken && !(c.broken != "" && slices.Contains(broken, c.broken)) || v.kept() != (c.broken == "") {
				t.Errorf("broken: %q, want %q", got, c.broken)
			}
		})
	}
}

func move(i int, at int64) func([]record) []record {
	return func(l []record) []record { l[i].at = at; return l }
}

func token(i int, token int64) func([]record) []record {
	return func(l []record) []record { l[i].token = token; return l }
}

func drop(what string) func([]record) []record {
	return func(l []record) []record { return slices.DeleteFunc(l, func(r record) bool { return r.what == what }) }
}

func rename(from, to string) func([]record) []record {
	return func(l []record) []record {
		for i := range l {
			if l[i].what == from {
				l[i].what = to
			}
		}
		return l
	}
}

func TestStoreRefusesTokensBelowTheHighestItSaw(t *testing.T) {
	t.Parallel()
	s := store{t.TempDir()}
	for _, step := range []struct {
		write   bool
		token   int64
		refused bool
	}{
		{false, 5, false}, {true, 5, false}, {true, 4, true}, {false, 4, true},
		// A read with a newer token is enough to make an older token too old for a write.
		{false, 9, false}, {true, 5, true}, {true, 9, false},
	} {
		var err error
		if step.write {
			err = s.write(step.token, step.token)
		} else {
			_, err = s.read(step.token)
		}
		if errors.Is(err, errOldToken) != step.refused {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if n, token, err := s.load(); n != 9 || token != 9 || err != nil {
		t.Errorf("it keeps %d, %d, %v; want 9, 9", n, token, err)
	}
}

// Without a lock all workers have one token, so the file refuses nobody, and the later number stays.
func TestStoreRefusesNobodyWithoutALock(t *testing.T) {
	t.Parallel()
	s := store{t.TempDir()}
	for n := range int64(3) {
		if err := s.write(n, 0); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.read(0); n != 2 || err != nil {
		t.Errorf("it keeps %d, %v; want 2", n, err)
	}
}
