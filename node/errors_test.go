package node

import "testing"

func TestAnErrorWithoutAReasonSaysSo(t *testing.T) {
	for _, message := range []string{"", "-", " ", "- "} {
		if e := ServerError(message); e.Code != Generic || e.Error() == "" || Reason(e) != "ERR (the server gave no reason)" {
			t.Errorf("%q: %+v", message, e)
		}
	}
	if e := ServerError("-ERR"); e.Code != Generic || e.Message != "ERR" {
		t.Errorf("%+v", e)
	}
}

// The messages of the server are long, and concern commands that users of Holdfast do not give.
func TestTheReasonOfAMissingPasswordSaysWhereItBelongs(t *testing.T) {
	e := ServerError("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used")
	want := "NOAUTH: it wants a password: put it into the URL, redis://:PASSWORD@host"
	if said := Reason(e); said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
}
