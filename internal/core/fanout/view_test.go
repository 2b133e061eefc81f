package fanout

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A node's standing may change after a worker has decided to refuse its messages: another goroutine may have greeted
// the node. So a view has an answer for these messages in every state. An answer without a verdict would keep a round
// open for ever.
func TestEveryViewHasAnAnswerForMessagesThatAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		defer f.Close(t.Context())
		v := f.voters[0]
		for what, change := range map[string]func(){
			"votes":            func() {},
			"is doubted":       v.doubt,
			"forgot":           v.forgot,
			"broke":            func() { v.broke(errors.New("connection reset")) },
			"does not answer":  func() { v.broke(errors.New("connection reset")); v.broke(errors.New("connection reset")) },
			"is asked anew":    v.reconsider,
			"has left its set": func() { v.site.run = "another" },
		} {
			change()
			known := v.view(f.Now())
			if known.refusal.Verdict == nodescript.Unanswered {
				t.Errorf("a node that %s: a message that is not sent would get %+v", what, known.refusal)
			}
		}
	})
}

func TestAMessageAlwaysGetsAVerdict(t *testing.T) {
	r := newCollector(1)
	(&Message{To: r}).answer(0, nodescript.Answer{})
	if <-r.done; r.answers[0].Verdict != nodescript.NotAdmitted {
		t.Errorf("%+v; want that the node is not admitted", r.answers[0])
	}
}
