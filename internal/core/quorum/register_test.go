package quorum

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// answered is the answer of a node that loaded a version.
func answered(token, sequence int64, whole bool) nodescript.Answer {
	v := &nodescript.Stored{Version: nodescript.Version{Token: token, Sequence: sequence}, Whole: whole, None: token == 0}
	return nodescript.Answer{Verdict: nodescript.Loaded, Evidence: &nodescript.Evidence{Stored: v}}
}

func TestWhatALoadBelieves(t *testing.T) {
	none, young := answered(0, 0, true), answered(0, 0, false)
	down, lost := nodescript.Answer{Verdict: nodescript.Failed}, nodescript.Answer{Verdict: nodescript.Lost}
	for _, c := range []struct {
		what    string
		sent    int64
		answers []nodescript.Answer
		want    Outcome
		token   int64
		settled bool
	}{
		{"all agree", 0, []nodescript.Answer{answered(5, 1, true), answered(5, 1, true), answered(5, 1, true)}, Won, 5, true},
		{"a majority agrees", 0, []nodescript.Answer{answered(5, 1, true), answered(5, 1, true)}, Won, 5, false},
		{"a minority has a later value", 0, []nodescript.Answer{answered(5, 1, true), answered(6, 1, true)}, Won, 6, false},
		{"the later value comes first", 0, []nodescript.Answer{answered(6, 1, true), answered(5, 9, true)}, Won, 6, false},
		{"nobody has a value", 0, []nodescript.Answer{none, none, none}, Won, 0, true},
		{"two old memories have none", 0, []nodescript.Answer{none, none}, Won, 0, false},
		{"young memories are no evidence", 0, []nodescript.Answer{young, young, down}, Failed, 0, false},
		{"one young memory is none", 0, []nodescript.Answer{young, answered(5, 1, true), down}, Failed, 0, false},
		{"all young memories together", 0, []nodescript.Answer{young, young, young}, Won, 0, true},
		{"a young memory and two others", 0, []nodescript.Answer{young, answered(5, 1, true), answered(5, 1, true)}, Won, 5, false},
		{"old data that came back", 0, []nodescript.Answer{answered(4, 1, false), answered(3, 1, true), down}, Failed, 0, false},
		{"too few answers so far", 0, []nodescript.Answer{answered(5, 1, true)}, Open, 0, false},
		{"the lease is gone", 0, []nodescript.Answer{lost, lost}, Gone, 0, false},
		{"a minority does not have the lease", 0, []nodescript.Answer{lost, none, none}, Won, 0, false},
		{"its own last write", 2, []nodescript.Answer{answered(10, 2, true), answered(10, 2, true)}, Won, 10, true},
		{"its own write reached a minority", 2, []nodescript.Answer{answered(10, 2, true), answered(10, 1, true)}, Won, 10, false},
		{"its own write reached nobody", 2, []nodescript.Answer{answered(5, 1, true), answered(5, 1, true), answered(5, 1, true)}, Won, 5, false},
		{"a version from the future", 0, []nodescript.Answer{answered(99, 1, true), answered(5, 1, true)}, Won, 5, false},
		{"only versions from the future", 0, []nodescript.Answer{answered(99, 1, true), answered(99, 1, true), answered(99, 1, true)}, Won, 99, false},
	} {
		l, out := NewLoading(3, 10, c.sent), Open
		for _, a := range c.answers {
			out = l.Answer(a)
		}
		if out != c.want {
			t.Errorf("%s: outcome %d; want %d", c.what, out, c.want)
		} else if out == Won && (l.Chosen().Version.Token != c.token || l.Settled() != c.settled) {
			t.Errorf("%s: chose %v, settled %t; want %d, %t", c.what, l.Chosen().Version, l.Settled(), c.token, c.settled)
		}
	}
}

func TestAStoreNeedsAMajority(t *testing.T) {
	done, lost, down := nodescript.Answer{Verdict: nodescript.Done}, nodescript.Answer{Verdict: nodescript.Lost}, nodescript.Answer{Verdict: nodescript.Failed}
	for _, c := range []struct {
		answers []nodescript.Answer
		want    Outcome
	}{
		{[]nodescript.Answer{done, done}, Won}, {[]nodescript.Answer{done}, Open}, {[]nodescript.Answer{down, down}, Failed},
		{[]nodescript.Answer{lost, down, done}, Failed}, {[]nodescript.Answer{lost, lost}, Gone}, {[]nodescript.Answer{down, done, done}, Won},
	} {
		s, out := NewStoring(3), Open
		for _, a := range c.answers {
			out = s.Answer(a)
		}
		if out != c.want {
			t.Errorf("%v: outcome %d; want %d", c.answers, out, c.want)
		}
	}
}
