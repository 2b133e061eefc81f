package failovers

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

func TestNoTwoHoldersWhileTheMasterChanges(t *testing.T) {
	explore.Holds[State](t, "failovers", Model{})
}

func TestEachRuleOfFailoversIsNeeded(t *testing.T) {
	for name, without := range map[string]Rule{
		"a former master votes at once when it is named again":  Epoch,
		"one Sentinel is enough":                                Majority,
		"a client relies on an old answer":                      Good,
		"a client does not notice that its master was replaced": Reign,
		"the quarantine is shorter than a lease":                Quarantine,
	} {
		t.Run(name, func(t *testing.T) { explore.Breaks[State](t, "failovers: "+name, Model{without}) })
	}
}
