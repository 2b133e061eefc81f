package fanout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// Each message gets the answer to its own call, no matter which other messages are in the pipeline. A cleared pipeline
// contains nothing of its earlier messages.
func TestAPipelineHandsOutEachAnswer(t *testing.T) {
	scripts := nodescript.NewScripts(nodescript.Config{N: 1, MaxTTL: 10 * time.Second, Window: time.Second}, "run")
	var p pipeline
	for round := range 2 {
		var messages []*Message
		want := map[*Message]string{}
		for i := range 3 * nodescript.MostTogether {
			name := fmt.Sprintf("%d/%d", round, i)
			c := nodescript.AcquireCall(nodescript.Lock{Name: name, Private: i%5 == 0}, "o", 1, time.Second)
			switch i % 3 {
			case 1:
				c = nodescript.ReleaseCall(nodescript.Lock{Name: name}, "o", 1)
			case 2:
				c = nodescript.QuitCall(nodescript.Lock{Name: name}, "o")
			}
			m := &Message{Call: c}
			messages = append(messages, m)
			want[m] = nodescript.RecordKey(name)
			p.add(m)
		}
		calls := p.made(scripts)
		first := slices.IndexFunc(calls, func(c node.Call) bool { return c.SHA == scripts.SHA(nodescript.Release) })
		if slices.ContainsFunc(calls[first:], func(c node.Call) bool { return c.SHA != scripts.SHA(nodescript.Release) }) {
			t.Error("a release comes before something else")
		}
		quits := len(messages) / 3
		if most := quits + 6; len(calls) > most { // two calls of private locks, at most four calls of other locks
			t.Errorf("%d messages make %d calls; want at most %d", len(messages), len(calls), most)
		}
		// The node answers each call with its key, as if an owner had the name.
		replies := make([]node.Reply, len(calls))
		for i, c := range calls {
			op := nodescript.Acquire
			for _, o := range []nodescript.Op{nodescript.Release, nodescript.Quit} {
				if c.SHA == scripts.SHA(o) {
					op = o
				}
			}
			each, err := nodescript.Apart(op, c)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, one := range each {
				err := node.ServerError("KEY " + one.Keys[0])
				if len(each) == 1 {
					replies[i].Err = err
				} else {
					parts = append(parts, nodescript.Part("", err))
					replies[i].Value = nodescript.Join(parts)
				}
			}
		}
		p.answered(replies, func(m *Message, a nodescript.Answer) {
			if a.Err == nil || a.Err.Error() != "KEY "+want[m] {
				t.Errorf("the message about %q is answered %v", want[m], a.Err)
			}
			delete(want, m)
		})
		if len(want) > 0 {
			t.Errorf("%d messages were not answered", len(want))
		}
		p.clear()
	}
}
