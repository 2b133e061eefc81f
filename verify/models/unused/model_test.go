package unused

import (
	"testing"

	"github.com/holdfast-go/holdfast/verify/models/explore"
)

func TestNoTwoHoldersWhileQuarantinesAreSkipped(t *testing.T) {
	explore.Holds[State](t, "unused", Model{})
}

func TestEachRuleOfUnusedNodesIsNeeded(t *testing.T) {
	for name, without := range map[string]Rule{
		"a majority of unused nodes is enough":          EveryNode,
		"answers from before the last challenge count":  AfterAll,
		"a server that has just started counts":         Uptime,
		"a server that has granted locks counts":        Counts,
		"a request counts for a later challenge":        Names,
		"another server may have been at the addresses": Local,
	} {
		t.Run(name, func(t *testing.T) { explore.Breaks[State](t, "unused: "+name, Model{without}) })
	}
}
