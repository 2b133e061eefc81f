package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// The first client of a new cluster had a wrong MaxTTL, and is gone. The hash slots have its settings until an operator
// replaces them, as the error says.
func TestTrustReplacesTheSettingsOfACluster(t *testing.T) {
	t.Parallel()
	c := bareCluster(t, 3, 0)
	ttl := func(d time.Duration) func(*holdfast.Config) {
		return func(cfg *holdfast.Config) { cfg.MaxTTL, cfg.TTL = d, 2*time.Second }
	}
	list := names("n", 1)
	wrong := c.client(ttl(3 * time.Second))
	for _, name := range list {
		lock(t, wrong, name, holdfast.WaitThroughOutages())
	}
	_ = wrong.Close()
	right := c.client(ttl(2 * time.Second))
	refused := func(client *holdfast.Client, name string) error {
		t.Helper()
		_, err := client.Mutex(name).TryLock(t.Context())
		var un *holdfast.UnavailableError
		if !errors.As(err, &un) || un.Nodes[0].Reason != verdict.ReasonMisconfigured {
			t.Fatalf("TryLock with other settings: %v", err)
		}
		return err
	}
	if err := refused(right, list[0]); !strings.Contains(err.Error(), "holdfast nodes trust --max-ttl 2s") {
		t.Errorf("the error has no hint: %v", err)
	}
	for _, a := range admin.Trust(t.Context(), right) {
		if !a.Votes() && a.Reason != verdict.ReasonQuarantined || a.Err != nil || a.VotesIn > 3*time.Second {
			t.Errorf("after Trust: %+v", a)
		}
	}
	for _, name := range list {
		lock(t, right, name, holdfast.WaitThroughOutages())
	}
	refused(c.client(ttl(3*time.Second)), list[0])
	redistest.Eventually(t, time.Minute, "all shards to vote, and nothing to be left to do", func() bool {
		return !slices.ContainsFunc(admin.Trust(t.Context(), right), func(a verdict.Answer) bool { return !a.Votes() })
	})
}
