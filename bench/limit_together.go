package main

import (
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// openTogether is limit (c): as (b), but what is to be said to a node at the same time
// is said in one call of each script, as Holdfast does.
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

// cutAnswer cuts the first of several answers off a reply.
func cutAnswer(reply []byte) (answer, rest []byte, err error) {
	if len(reply) >= 3 {
		if n, err := strconv.Atoi(string(reply[:3])); err == nil && n <= len(reply)-3 {
			return reply[3 : 3+n], reply[3+n:], nil
		}
	}
	return nil, nil, fmt.Errorf("several answers in %q", reply)
}
