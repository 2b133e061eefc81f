package quorum

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

var config = nodescript.Config{N: 3, MaxTTL: maxTTL, Window: w, Cluster: "test"}

func hello(run string) nodescript.Hello {
	return nodescript.Hello{Time: epoch, Run: run, Version: "Redis 7"}
}

func TestANodeVotesAfterHelloAndAdmit(t *testing.T) {
	s := NewStanding(config)
	if s.Next(0) != Greet {
		t.Fatal("a node never met is not greeted first")
	}
	if v := s.Refusal(0).Verdict; v != nodescript.NotAdmitted {
		t.Errorf("a node never met answers %d: who asked would wait for another answer", v)
	}
	s.Greeted(0, hello("a"), nil, "")
	if s.Next(0) != Admit || s.GoesWithoutVote(nodescript.Release) {
		t.Fatal("a greeted node is not asked for admission, or gets a release it has no script for")
	}
	s.Admitted(0, nodescript.Answer{Verdict: nodescript.Done})
	if s.Next(0) != Send || s.Run() != "a" || s.Version() != "Redis 7" {
		t.Fatal("an admitted node is not used")
	}
	s.Forgot()
	if s.Next(0) != Greet {
		t.Fatal("a node that forgot its scripts is not greeted anew")
	}
}

func TestAQuarantinedNodeGetsOnlyWhatGivesBack(t *testing.T) {
	s := NewStanding(config)
	s.Greeted(0, hello("a"), nil, "")
	s.Admitted(0, nodescript.Answer{Verdict: nodescript.Quarantined, Left: 7 * time.Second})
	if s.Next(at(time.Millisecond)) != Refuse {
		t.Fatal("a quarantined node is used")
	}
	passes := s.GoesWithoutVote
	if !passes(nodescript.Release) || !passes(nodescript.Leave) || !passes(nodescript.Quit) || passes(nodescript.Acquire) || passes(nodescript.Extend) {
		t.Error("the wrong calls pass the door of a quarantined node")
	}
	if left := s.Refusal(at(2 * time.Second)).Left; left != 5*time.Second {
		t.Errorf("after 2 s of 7 s it votes in %s", left)
	}
	if s.Next(at(AskAgain)) != Greet {
		t.Error("an operator's voucher would not be noticed before the end of the quarantine")
	}
}

func TestARefusalIsBelievedForAWhile(t *testing.T) {
	for _, v := range []nodescript.Verdict{nodescript.Misconfigured, nodescript.Unfit, nodescript.OffClock} {
		s := NewStanding(config)
		s.Greeted(0, hello("a"), nil, "")
		s.Admitted(0, nodescript.Answer{Verdict: v})
		if s.Next(at(AskAgain-1)) != Refuse || s.Next(at(AskAgain)) != Greet {
			t.Errorf("verdict %d is not believed for %s", v, AskAgain)
		}
	}
	s := NewStanding(config)
	s.Greeted(0, nodescript.Hello{}, errors.New("refused"), "")
	if s.Next(at(AskSoon-1)) != Refuse || s.Next(at(AskSoon)) != Greet {
		t.Errorf("a failure to reach the node is not believed for %s", AskSoon)
	}
}

// Before Redis 7 a restarted server knows the scripts of its last incarnation. On 6.2.5 this led to two holders.
func TestAServerThatKeepsScriptsOverARestartIsRefused(t *testing.T) {
	for version, fit := range map[string]bool{
		"Redis 6.2.5": false, "Redis 6.0.16": false, "Redis 5": false,
		"Redis 7.0.0": true, "Redis 7.0.15 (embedded)": true, "Redis 8.2.1": true, "Redis 10.0": true,
		"Valkey 8.1.4": true, "Redis ?": true, "": true, // a server of unknown version is not refused
	} {
		s := NewStanding(config)
		h := hello("a")
		h.Version = version
		s.Greeted(0, h, nil, "")
		if got := s.Next(0) == Admit; got != fit {
			t.Errorf("%q: asked for admission: %v, want %v", version, got, fit)
		}
		if r := s.Refusal(0); !fit && (r.Verdict != nodescript.Unfit || r.Cause != nodescript.VersionTooOld || r.Value() != version) {
			t.Errorf("%q: %+v", version, r)
		}
	}
}

func TestATwinNeverVotes(t *testing.T) {
	s := NewStanding(config)
	s.Greeted(0, hello("a"), nil, "redis://other")
	if s.Next(0) != Refuse || s.Refusal(0).Verdict != nodescript.Duplicate || s.Refusal(0).Value() != "redis://other" {
		t.Errorf("the second address of a server: %+v", s.Refusal(0))
	}
}

func TestTheGuardIsRefreshed(t *testing.T) {
	s := NewStanding(config)
	s.Greeted(0, hello("a"), nil, "")
	s.Admitted(0, nodescript.Answer{Verdict: nodescript.Done})
	if s.RefreshDue(at(refreshEvery-1)) || !s.RefreshDue(at(refreshEvery)) {
		t.Errorf("the guard is not refreshed every %s", refreshEvery)
	}
	s.Refreshed(at(refreshEvery))
	if s.RefreshDue(at(refreshEvery)) {
		t.Error("a refresh is repeated at once")
	}
}
