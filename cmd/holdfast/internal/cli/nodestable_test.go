package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// Rows are about 100 columns wide. The rest of a text is below the table, once, and no part of it is lost.
func TestRowsOfNodesAreShort(t *testing.T) {
	settings := []verdict.Difference{{Setting: "nodes", Node: "3", Client: "1"}, {Setting: "cluster", Node: "a638b8e18ee3", Client: "f5a539184bdf"}}
	list := []verdict.Answer{
		{Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings, Settings: settings},
		{Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings, Settings: settings},
		{Reason: verdict.ReasonQuarantined, Cause: verdict.CausePlace, VotesIn: 13 * time.Second},
		{Reason: verdict.ReasonQuarantined, Cause: verdict.CauseNew, VotesIn: 9300 * time.Millisecond},
		{Reason: verdict.ReasonServerError, Cause: node.NoAuth, Err: node.ServerError("NOAUTH no")},
		{Reason: verdict.ReasonUnwritable, Cause: verdict.CauseSnapshot},
		{Reason: verdict.ReasonUnfit, Cause: verdict.CauseCluster},
		{Reason: verdict.ReasonUnfit, Cause: verdict.CauseSeveral},
		{Reason: verdict.ReasonVotes},
	}
	for i := range list {
		list[i].Node, list[i].Version, list[i].OffsetKnown = "redis://127.0.0.1:770"+string(rune('0'+i))+"/0", "Redis 7.0.15", true
	}
	var out bytes.Buffer
	if err := printNodes(&out, list, nil); err != nil {
		t.Fatal(err)
	}
	const fact = "the node has nodes=3 cluster=a638b8e18ee3"
	for line := range strings.Lines(out.String()) {
		if len(line) > 106 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"redis://127.0.0.1:7700/0 configuration differs +0.0ms Redis 7.0.15",
		"redis://127.0.0.1:7700/0, redis://127.0.0.1:7701/0: " + fact,
		"quarantined for another 9.3s: its memory is new +0.0ms",
		"quarantined for another 13s +0.0ms", "redis://127.0.0.1:7702/0: it is new or lost its data",
		"vote not known: NOAUTH: it wants a password +0.0ms", "redis://127.0.0.1:7704/0: put it into the URL",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if strings.Count(text, fact) != 1 {
		t.Errorf("the settings of two nodes are not printed once")
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// Too few votes for this command do not mean that nobody gets a lock, if the nodes refuse only this command.
func TestVotesThatOnlyThisCommandLacks(t *testing.T) {
	noPerm := verdict.Answer{Reason: verdict.ReasonServerError, Cause: node.NoPerm}
	other := verdict.Answer{Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings}
	dead := verdict.Answer{Reason: verdict.ReasonRefused}
	for _, c := range []struct {
		list []verdict.Answer
		want string
	}{
		{[]verdict.Answer{noPerm, noPerm, dead}, "Other users may get locks"},
		{[]verdict.Answer{other, other, dead}, "Clients with the settings of the nodes may get locks"},
		{[]verdict.Answer{noPerm, dead, dead}, ""},
	} {
		if got := barred(c.list, 2); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.list, got, c.want)
		}
	}
}
