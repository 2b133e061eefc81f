package nodescript

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// A node's answer to a question for a slot names the slot that it has instead.
func TestAnswersOfSlots(t *testing.T) {
	held := "Hl0000000001000000------"
	for value, want := range map[string]Answer{
		"G0":             {Verdict: Granted},
		"G1":             {Verdict: Granted, Waiting: true},
		held + "----web": {Verdict: Held, Rank: -1, Full: true, Left: time.Second, Owner: "web"},
		held + "0012web": {Verdict: Held, Rank: -1, Offered: true, Slot: 12, Left: time.Second, Owner: "web"},
		"Hc00000000010000000000030000web": {
			Verdict: Held, Claim: true, Rank: 3, Offered: true, Left: time.Second, Owner: "web",
		},
		"S0000000000000005": {Verdict: Stale, Seen: 5},
		"N":                 {Verdict: NotAdmitted},
	} {
		if got := ParseReply(AcquireSlot, node.Reply{Value: value}); got != want {
			t.Errorf("%q is read as %+v, want %+v", value, got, want)
		}
	}
	for _, value := range []string{"", held, held + "-", held + "12", held + "1x34web", "Go", "H"} {
		if got := ParseReply(AcquireSlot, node.Reply{Value: value}); got.Verdict != Failed {
			t.Errorf("%q is read as %+v", value, got)
		}
	}
}

// The message of a hand-off of a slot names the slot.
func TestHandoffsOfSlots(t *testing.T) {
	h := Handoff{Owner: "a~b~c", Seen: 7, Lock: Lock{Name: "{x}", Private: true}, OfSlot: true, Slot: 3}
	got, ok := ParseHandoff(h.String())
	if !ok || got.Owner != h.Owner || got.Lock.Name != h.Lock.Name || got.Slot != 3 || !got.OfSlot {
		t.Errorf("%q is read as %+v, %t", h.String(), got, ok)
	}
	for _, bad := range []string{"{x}::1024:holdfast", "{x}::-1:holdfast", "{x}::03:holdfast", "{x}::+3:holdfast"} {
		if got, ok := ParseHandoff(Micros(7) + "a~b~c\n0" + bad); ok && got.OfSlot {
			t.Errorf("the key %q is read as slot %d", bad, got.Slot)
		}
	}
	if _, ok := ParseHandoff(Micros(7) + "a~b~c\n1" + SlotKey("x", 3)); ok {
		t.Error("a slot with a plain key")
	}
}

func TestASemaphoreHasAtLeastOneSlot(t *testing.T) {
	for k, ok := range map[int]bool{-1: false, 0: false, 1: true, MostSlots: true, MostSlots + 1: false} {
		if err := CheckSlots(k); (err == nil) != ok {
			t.Errorf("%d slots: %v", k, err)
		}
	}
}
