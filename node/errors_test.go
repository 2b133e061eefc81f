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
