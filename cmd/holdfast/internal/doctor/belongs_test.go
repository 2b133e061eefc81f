package doctor

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/verdict"
)

// The fix of a wrong list is the right list. With the name of one node as --cluster, the next node would refuse it.
func TestTheFixOfAWrongListIsTheRightList(t *testing.T) {
	refused := func(all ...verdict.Difference) verdict.Answer {
		return verdict.Answer{Node: "b", Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseSettings, Settings: all}
	}
	hash := verdict.Difference{Setting: "cluster", Node: "a4b1101e5e28", Client: "67f1cbb9491d"}
	for what, c := range map[string]struct {
		n          verdict.Answer
		want, lack string
	}{
		"another list":               {refused(hash), "the same list of nodes as the other clients, in --nodes or HOLDFAST_NODES, spelt in the same way (127.0.0.1 and localhost differ)", "--cluster"},
		"a name instead of a list":   {refused(verdict.Difference{Setting: "cluster", Node: "a4b1101e5e28", Client: "prod"}), "the same list of nodes", "--cluster="},
		"a longer list":              {refused(verdict.Difference{Setting: "nodes", Node: "5", Client: "3"}, hash), "the same list of nodes", "--cluster"},
		"a named set":                {refused(verdict.Difference{Setting: "cluster", Node: "prod", Client: "67f1cbb9491d"}), "the settings of the node: --cluster=prod", "same list"},
		"another list and a setting": {refused(hash, verdict.Difference{Setting: "max-ttl", Node: "4s", Client: "10s"}), "; and give this command and all clients the settings of the node: --max-ttl=4s", "--cluster"},
		"an unknown setting":         {refused(verdict.Difference{Setting: "x", Client: "y"}), "the same settings", "--"},
	} {
		if fix := settingsFix(c.n); !strings.Contains(fix, c.want) || strings.Contains(fix, c.lack) {
			t.Errorf("%s: %s; want %q without %q", what, fix, c.want, c.lack)
		}
	}
}

// Two addresses of one server: the fix names both.
func TestTheFixOfAServerTwiceNamesBothAddresses(t *testing.T) {
	twice := verdict.Answer{Node: "b", Reason: verdict.ReasonDuplicate, Value: "a"}
	says(t, about("members", twice), "b", Bad, "fix: take b or a out of HOLDFAST_NODES")
	copied := verdict.Answer{Node: "b", Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseCopy, Value: "c"}
	says(t, about("members", copied), "b", Bad, "fix: take b or c out of HOLDFAST_NODES")
	stranger := verdict.Answer{Node: "b", Reason: verdict.ReasonMisconfigured, Cause: verdict.CauseStranger, Value: "c"}
	says(t, about("members", stranger), "b", Bad, "fix: give all clients the same list of nodes")
}
