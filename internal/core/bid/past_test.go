package bid

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// A client declines a hand-off to a bid that is over, unless a waiter may still use it: defects 37, 39, 40 and 44, and
// TestWhatIsHandedToNobodyIsDeclined.
func TestTheFateOfAHandOffToABidThatIsOver(t *testing.T) {
	const claim = time.Second
	mine := owner("mine", "client", 100)
	for _, c := range []struct {
		name, owner string
		before      func(p *Past)
		want        Fate
	}{
		{"a bid that is over", mine, func(*Past) {}, Declined},
		{"another client's (40)", owner("mine", "other", 100), func(*Past) {}, Ignored},
		{"no owner", "mine~client", func(*Past) {}, Ignored},
		{"who has just won", mine, func(p *Past) { p.Won(mine, start.Add(-claim)) }, Ignored},
		{"who won a while ago", mine, func(p *Past) { p.Won(mine, start.Add(-claim-1)) }, Declined},
		{"a wait between two bids (39)", mine, func(p *Past) { p.WaitGoesOn(100) }, GoesOn},
		{"a wait that ended", mine, func(p *Past) { p.WaitGoesOn(100); p.WaitEnded(100) }, Declined},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPast("client", claim)
			c.before(&p)
			if got := p.Fate(c.owner, start); got != c.want {
				t.Errorf("fate %d, want %d", got, c.want)
			}
		})
	}
}

// An owner that won longer than a claim ago takes no memory.
func TestThePastForgets(t *testing.T) {
	p := NewPast("client", time.Second)
	for i := range 100 {
		p.Won(owner("mine", "client", int64(i)), start.Add(time.Duration(i)*time.Second))
	}
	if n := len(p.since); n > 3 {
		t.Errorf("it knows %d owners", n)
	}
}

// A hand-off that came between two bids of a wait is kept for the next bid, and for the end of the wait: defect 44.
func TestWhatIsHandedBetweenTwoBidsIsKept(t *testing.T) {
	p := NewPast("client", time.Second)
	k := Kept{Node: 1, Of: nodescript.Handoff{Owner: owner("mine", "client", 100)}}
	if p.Keep(k) || len(p.Take(100)) != 0 {
		t.Error("it is kept for a wait that is over")
	}
	p.WaitGoesOn(100)
	for range 2 {
		if !p.Keep(k) {
			t.Error("it is not kept for the wait")
		}
	}
	p.WaitGoesOn(100) // another bid of the wait has ended
	if all := p.Take(100); len(all) != 2 || all[0].Node != 1 {
		t.Errorf("the next bid gets %v", all)
	}
	if p.Keep(k); len(p.WaitEnded(100)) != 1 || p.Keep(k) {
		t.Error("the end of the wait does not get it")
	}
}
