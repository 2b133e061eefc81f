package main

import (
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// openTogether opens the limit (c) of the report. It is like the limit (b), but operations for one node at the same
// time are joined in one call per script, as in Holdfast.
func openTogether(urls []string) (locker, error) {
	opened, err := openScripts(urls)
	if err != nil {
		return nil, err
	}
	l := opened.(*limit)
	l.packs = l.speak.(*scripts)
	return l, nil
}

func (s *scripts) pack(w *wire, node int) {
	for _, acquire := range []bool{false, true} {
		var t nodescript.Together
		say := func() {
			w.out = s.call(w.out, &nodescript.Call{Op: t.Op, Keys: t.Keys, Args: t.Args}, node)
			w.many = append(w.many, t.N)
			t.Clear()
		}
		for _, tag := range w.later {
			if tag.step%2 == 1 != acquire {
				continue
			}
			c := tag.lane.release
			if acquire {
				c = tag.lane.acquire
			}
			if !t.Add(c) {
				say()
				t.Add(c)
			}
			w.tags = append(w.tags, tag)
		}
		if t.N > 0 {
			say()
		}
	}
	w.later = w.later[:0]
}
