package demo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// contrast is the result of the half without a lock.
type contrast struct{ made, found, overlaps int64 }

func (c contrast) String() string {
	return fmt.Sprintf("%d increments made, %d found: %d lost. Two or more workers were inside at the same time %d times.", c.made, c.found, c.made-c.found, c.overlaps)
}

func compare(dir string) (c contrast, err error) {
	list, err := readJournal(dir)
	if err != nil {
		return c, err
	}
	for _, r := range list {
		if r.what == wrote {
			c.made++
		}
	}
	c.overlaps = int64(overlaps(stays(list)))
	c.found, _, err = store{dir}.load()
	return c, err
}

// stay is the time that one worker spent inside the critical section: it had the lock.
type stay struct {
	from, to int64
	worker   int
	token    int64
}

// stays returns the stays of all workers, from their entries and exits. If a worker was killed inside, its stay ends
// then. If a worker was frozen inside, its stay ends when it was frozen. It does nothing while it is frozen, and the
// verdict judges later actions of that worker separately.
func stays(list []record) []stay {
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	open := map[int]int{} // the index of the stay, by worker
	var out []stay
	for _, r := range list {
		if r.what == entered {
			open[r.worker] = len(out)
			out = append(out, stay{from: r.at, to: -1, worker: r.worker, token: r.token})
			continue
		}
		i, ok := open[r.worker]
		if ok && out[i].token == r.token && out[i].to < 0 {
			out[i].to = r.at
		}
	}
	return out
}

// overlaps counts stays that began during another stay.
func overlaps(list []stay) (n int) {
	last := int64(-1)
	for _, s := range list {
		if s.from < last {
			n++
		}
		if s.to < 0 {
			s.to = s.from // the journal does not say when this stay ended
		}
		last = max(last, s.to)
	}
	return n
}

// promise is one line of the verdict.
type promise struct {
	name string
	says string
	kept bool
	only bool // the line shows a figure, and there is no promise about it
}

type judgement struct{ promises []promise }

func (v *judgement) add(name string, kept bool, format string, args ...any) {
	v.promises = append(v.promises, promise{name: name, says: fmt.Sprintf(format, args...), kept: kept})
}

func (v *judgement) kept() bool {
	return !slices.ContainsFunc(v.promises, func(p promise) bool { return !p.kept })
}

func (v *judgement) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, p := range v.promises {
		word := "kept"
		switch {
		case p.only:
			word = ""
		case !p.kept:
			word = "BROKEN"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", word, p.name, p.says)
	}
}

// judge compares the events with the promises. early contains the nodes that voted too early. recovered says that
// restarted nodes have voted again.
func judge(dir string, early []string, recovered bool) (*judgement, error) {
	list, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	found, _, err := store{dir}.load()
	if err != nil {
		return nil, err
	}
	return judgementOn(list, found, early, recovered), nil
}

func judgementOn(list []record, found int64, early []string, recovered bool) *judgement {
	count := map[string]int64{}
	var longest time.Duration
	for _, r := range list {
		count[r.what]++
		longest = max(longest, time.Duration(r.waited))
	}
	inside := stays(list)
	handOffs, falling := 0, 0
	for i := 1; i < len(inside); i++ {
		if inside[i].worker != inside[i-1].worker {
			handOffs++
		}
		if inside[i].token <= inside[i-1].token {
			falling++
		}
	}
	v := &judgement{}
	// A worker that was killed may have written the number, but died before it recorded that.
	made, perhaps := count[wrote], count[killed]
	says := fmt.Sprintf("%d made, %d found", made, found)
	if found > made && found <= made+perhaps {
		says += fmt.Sprintf("; %d by the killed worker, which died before it could record that", found-made)
	}
	v.add("increments", made > 0 && found >= made && found <= made+perhaps, "%s", says)
	n := overlaps(inside)
	v.add("one at a time", n == 0, "%d stays, %d overlaps", len(inside), n)
	v.add("tokens", falling == 0, "%d, each larger than the token before it, in the order of entry; exceptions: %d", len(inside), falling)
	gap := afterKill(list)
	v.add("killed holder", gap > 0, "the next worker was in %.1fs after its death (TTL %s)", gap.Seconds(), ttl)
	v.add("frozen holder", count[froze] == 1 && count[noticed] >= 1 && count[rejected] >= 1 && count[accepted] == 0,
		"noticed by its lease: %d; old tokens refused by the file: %d, accepted: %d", count[noticed], count[rejected]+count[refused], count[accepted])
	v.add("restarted nodes", recovered && len(early) == 0, "voted again only when every lock that they may have forgotten had ended; too early: %d", len(early))
	v.promises = append(v.promises, promise{
		name: "waiting", says: fmt.Sprintf("%d hand-offs, the longest wait was %.1fs", handOffs, longest.Seconds()), kept: true, only: true,
	})
	return v
}

// afterKill returns the time from a holder's death to the next entry, or 0 if there was no next entry.
func afterKill(list []record) time.Duration {
	for i, r := range list {
		if r.what != killed {
			continue
		}
		for _, next := range list[i:] {
			if next.what == entered && next.at > r.at {
				return time.Duration(next.at - r.at)
			}
		}
	}
	return 0
}
