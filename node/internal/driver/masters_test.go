package driver

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// info is the answer to INFO of a master with this run id.
func info(run string) string { return "\nrun_id:" + run + "\r\nrole:master\r\n" }

// Sentinel names the same server in a later failover, so another one was the master in between. Every connection ends.
func TestALaterEpochBeginsAnotherReign(t *testing.T) {
	m := NewMasters(t.Context())
	first := m.At(Named{Addr: "a", Epoch: "1", Asked: steady()})
	if m.At(Named{Addr: "a", Epoch: "1", Firm: true, Asked: steady()}) != first || first.Context.Err() != nil {
		t.Error("the same answer begins another reign")
	}
	if got := m.Epoch(first); !slices.Equal(got, []string{"1", "F", "", ""}) {
		t.Errorf("the arguments are %q", got)
	}
	second := m.At(Named{Addr: "a", Epoch: "3", Asked: steady()})
	if second == first || first.Context.Err() == nil {
		t.Error("a later epoch begins no other reign")
	}
	if got := m.Epoch(second); !slices.Equal(got, []string{"3", "", "", ""}) {
		t.Errorf("the arguments are %q", got)
	}
}

// A client that hears nothing from the Sentinels sends no call to the master for long.
func TestAMasterStandsWhileItIsNamed(t *testing.T) {
	m := NewMasters(t.Context())
	r := m.At(Named{Addr: "a", Epoch: "1", Asked: steady().Add(-node.NamedFor - time.Millisecond)})
	if m.Stands(r) {
		t.Error("a master that was named too long ago stands")
	}
	if m.At(Named{Addr: "a", Epoch: "1", Asked: steady()}); !m.Stands(r) {
		t.Error("a master that was named a moment ago does not stand")
	}
	if m.At(Named{Addr: "b", Epoch: "2", Asked: steady()}); m.Stands(r) {
		t.Error("a former master stands")
	}
}

// Admission learns of the last other master behind the address.
func TestTheFormerMasterIsTold(t *testing.T) {
	m := NewMasters(t.Context())
	meet := func(run string) []string {
		r := m.Now()
		if m.Met(r, info(run)) != nil { // another master: another reign
			r = m.Now()
			if err := m.Met(r, info(run)); err != nil {
				t.Fatal(err)
			}
		}
		return m.Epoch(r)[2:]
	}
	if got := meet("one"); got[0] != "" || got[1] != "" {
		t.Errorf("the first master: %q", got)
	}
	meet("two")
	got := meet("two")
	if got[1] != "one" || len(got[0]) != 16 {
		t.Errorf("after the second master: %q", got)
	}
	first := m.former.since
	if again := meet("one"); again[1] != "two" || m.former.since <= first {
		t.Errorf("back at the first master: %q", again)
	}
}
