package nodescript

import (
	"strings"
	"testing"
)

func TestRecordPrintsBackAsItWasRead(t *testing.T) {
	for _, r := range []Record{
		{},
		{Seen: 1, Token: 2, Expiry: 3},
		{Seen: 1_790_000_000_123_456, Token: 1_790_000_000_123_456, Expiry: 1_790_000_010_123_456, Owner: "web-3/4711~k~Q"},
		{Seen: 9_999_999_999_999_999, Expiry: 1, Waiting: true, Owner: "\x00\xff 0123"},
	} {
		got, err := ParseRecord(r.String())
		if err != nil || got != r {
			t.Errorf("%+v was read back as %+v, %v", r, got, err)
		}
	}
}

// A release overwrites only the beginning of a record.
func TestAReleasedRecordHasNoOwner(t *testing.T) {
	text := Record{Seen: 7, Token: 7, Expiry: 8, Owner: "o"}.String()
	released := Record{Seen: 8}.String()
	if got, err := ParseRecord(released + text[len(released):]); err != nil || got != (Record{Seen: 8}) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestWhatIsNoRecordIsRefused(t *testing.T) {
	good := Record{Seen: 1, Token: 1, Expiry: 1, Owner: "o"}.String()
	for _, s := range []string{
		"", good[:recordHead-1], "x" + good[1:], good[:20] + "-" + good[21:], good[:40] + "+" + good[41:],
		good[:recordFlag] + "4" + good[recordFlag+1:], strings.Repeat(" ", recordHead), good[:15] + "_" + good[16:],
	} {
		if r, err := ParseRecord(s); err == nil {
			t.Errorf("%q was read as %+v", s, r)
		}
	}
}

func TestMicrosIsAlwaysSixteenDigits(t *testing.T) {
	for us, want := range map[int64]string{
		-1: "0000000000000000", 0: "0000000000000000", 1: "0000000000000001",
		1_790_000_000_123_456: "1790000000123456", 9_999_999_999_999_999: "9999999999999999", 1 << 62: "9999999999999999",
	} {
		if got := Micros(us); got != want {
			t.Errorf("Micros(%d) = %q, want %q", us, got, want)
		}
	}
}
