package sample

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestALeaderThatChangesOftenIsAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &elections{known: map[string]Election{"captain": {Name: "captain", Leader: "web-1/1", Term: 9}}}
		told := func() bool {
			e.forget()
			s := &State{Elections: e.list()}
			s.electionProblems()
			return len(s.Problems) == 1 && strings.HasPrefix(s.Problems[0].Text, "election captain has changed its leader 4 times")
		}
		for _, term := range []int64{5, 5, 0, 6, 0, 7, 8} {
			e.count("captain", term)
		}
		if told() {
			t.Error("three changes are a problem")
		}
		e.count("captain", 9)
		if !told() {
			t.Errorf("four changes are no problem: %+v", e.list())
		}
		time.Sleep(changesKept + time.Second)
		if told() {
			t.Error("old changes are a problem")
		}
	})
}
