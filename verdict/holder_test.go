package verdict

import "testing"

func TestAHolderPrintsWhoItIs(t *testing.T) {
	for _, c := range []struct {
		holder Holder
		want   string
	}{
		{Holder{Owner: "web-3/4711~k9~1"}, "web-3/4711"},
		{Holder{Owner: "web-3/4711~k9~1~r", Shared: true}, "web-3/4711"},
		{Holder{Owner: "a\x1b[2J\n", Foreign: true}, `a foreign key ("a\x1b[2J\n")`},
		{Holder{Foreign: true}, noText},
		{Holder{}, "several that try at once"},
	} {
		if got := c.holder.String(); got != c.want {
			t.Errorf("%+v prints as %q, want %q", c.holder, got, c.want)
		}
	}
}

func TestAnOwnerTellsTheKindOfItsHolder(t *testing.T) {
	for _, c := range []struct {
		owner        string
		foreign      bool
		shared, left bool
	}{
		{owner: "web~k9~1"},
		{owner: "web~k9~1~r", shared: true},
		{owner: "web~k9~1~left", left: true},
		{owner: "web~k9~1~r", foreign: true},
		{owner: "web~k9~1~left", foreign: true},
		{owner: "", foreign: true},
	} {
		if h := HolderOf(c.owner, c.foreign); h.Shared != c.shared || h.Left != c.left || h.Foreign != c.foreign || h.Owner != c.owner {
			t.Errorf("the holder of %q, foreign %t: %+v", c.owner, c.foreign, h)
		}
	}
}
