package election

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/inside"
)

// TestNewsOfAnElection checks the news that observers get from several looks at an election.
func TestNewsOfAnElection(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	led := func(term int64, value string) Leader {
		l := Leader{Owner: fmt.Sprint("owner of ", term), Term: term}
		if value != "" {
			l.Value = []byte(value)
		}
		return l
	}
	type look struct {
		leader Leader
		err    error
	}
	for _, c := range []struct {
		name  string
		looks []look
		heard string
	}{
		{"nothing changes", []look{{led(1, "a"), nil}, {led(1, "a"), nil}}, "1a"},
		{"nobody leads", []look{{Leader{}, nil}, {Leader{}, nil}, {led(1, ""), nil}}, "- 1"},
		{"another value", []look{{led(1, ""), nil}, {led(1, "a"), nil}, {led(1, "b"), nil}}, "1 1a 1b"},
		{"a vacancy that no look has seen", []look{{led(1, ""), nil}, {led(2, ""), nil}}, "1 - 2"},
		{"a vacancy that a look has seen", []look{{led(1, ""), nil}, {Leader{}, nil}, {led(2, ""), nil}}, "1 - 2"},
		{"a term goes back", []look{{led(2, ""), nil}, {led(1, "a"), nil}, {led(2, ""), nil}}, "2"},
		{"a term goes back after a vacancy", []look{{led(2, ""), nil}, {Leader{}, nil}, {led(1, ""), nil}, {led(3, ""), nil}}, "2 - 3"},
		{"the same term is found again", []look{{led(2, ""), nil}, {Leader{}, nil}, {led(2, ""), nil}}, "2 - 2"},
		{"an outage", []look{{led(1, ""), nil}, {Leader{}, down}, {Leader{}, down}, {led(1, ""), nil}}, "1 ! 1"},
		{"another leader after an outage", []look{{led(1, ""), nil}, {Leader{}, down}, {led(2, ""), nil}}, "1 ! - 2"},
		{"an outage at first", []look{{Leader{}, down}, {led(1, ""), nil}}, "! 1"},
	} {
		w := &watcher{}
		var heard []string
		for _, l := range c.looks {
			for _, n := range w.news(l.leader, l.err) {
				w.last = &n
				switch {
				case n.Err != nil:
					heard = append(heard, "!")
				case n.Vacant():
					heard = append(heard, "-")
				default:
					heard = append(heard, fmt.Sprint(n.Term)+string(n.Value))
				}
			}
		}
		if got := strings.Join(heard, " "); got != c.heard {
			t.Errorf("%s: the observers heard %q, want %q", c.name, got, c.heard)
		}
	}
}

// A receiver that is slow gets the latest news, and hears that there was a vacancy.
func TestASlowReceiverHearsOfAVacancy(t *testing.T) {
	t.Parallel()
	o := newObserver()
	for term := range int64(10 * mostPending) {
		o.add(News{})
		o.add(News{Leader: Leader{Term: term + 1}})
		if len(o.pending) > mostPending {
			t.Fatalf("%d news wait", len(o.pending))
		}
		if n := len(o.pending); o.pending[n-1].Term != term+1 || n > 1 && !o.pending[n-2].Vacant() {
			t.Fatalf("after term %d the last news are %v", term+1, o.pending[max(0, n-2):])
		}
	}
}

func TestPublishedValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "x", "a\nb\x00", strings.Repeat("v", MostPublished)} {
		b := published(1764000000000000, []byte(value))
		if len(b) > holdfast.MostValue {
			t.Errorf("%d bytes, more than a value can have", len(b))
		}
		if term, v, ok := parsePublished(b); !ok || term != 1764000000000000 || string(v) != value {
			t.Errorf("%.20q: %d %.20q %v", value, term, v, ok)
		}
	}
	if term, v, ok := parsePublished(announced(1764000000000000)); !ok || term != 1764000000000000 || v != nil {
		t.Errorf("announced: %d %q %v", term, v, ok)
	}
	for _, b := range []string{"", "{}", inside.ElectionMark, inside.ElectionMark + strings.Repeat("0", 19) + "\n", inside.ElectionMark + "-000000000000000001\n",
		inside.ElectionMark + "000000000000000000x\n", strings.ToUpper(string(published(1, nil))), string(published(1, nil)[:publishedHead-2])} {
		if _, _, ok := parsePublished([]byte(b)); ok {
			t.Errorf("%q was published by a leader", b)
		}
	}
}
