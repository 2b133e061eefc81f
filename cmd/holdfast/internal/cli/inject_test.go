package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/verdict"
)

// Text from a node must not control the terminal. In JSON it must read back unchanged.
func TestStatusOfAForgedOwnerForgesNoLine(t *testing.T) {
	const forged = "web\x1b[2K\r\u009b31m\u202e\nholdfast: granted~c~1"
	s := &holdfast.Status{Name: "x", Held: true, Holders: []verdict.Holder{{Owner: forged, Until: time.Now().Add(time.Minute)}}, Nodes: []verdict.Answer{
		{Node: "redis://a:1/0", Reason: verdict.ReasonHeld, Owner: forged}, {Node: "redis://b:1/0", Reason: verdict.ReasonHeld, Foreign: true, Owner: forged},
		{Node: "redis://c:1/0", Reason: verdict.ReasonFailed, Err: errors.New("ERR " + forged)},
	}}
	var out bytes.Buffer
	jobs := map[string]job.Outcome{"x": {State: forged, Host: forged, Error: forged, Took: time.Second}}
	if err := printStatus(&out, s, jobs, 0, false); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\u009b\u202e") || strings.Contains(out.String(), "\nholdfast: granted") {
		t.Errorf("status prints %q", out.String())
	}
	out.Reset()
	if err := printJSON(&out, statusJSON(s, true)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\u009b\u202e") {
		t.Errorf("JSON prints %q", out.String())
	}
	var back lockJSON
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Owner == nil || *back.Owner != forged {
		t.Errorf("JSON reads back as %v, %v", back.Owner, err)
	}
	out.Reset()
	talk := newTalker(&out)
	talk.say("%s", "lock: \x1b[2K\r\u009bheld")
	if strings.ContainsAny(out.String(), "\x1b\r\u009b") {
		t.Errorf("said %q", out.String())
	}
}

// A hash, such as Redisson's, names no owner.
func TestAForeignKeyOfAnotherTypeIsSaidToNameNoOwner(t *testing.T) {
	if got := holder("", true); strings.Contains(got, `""`) {
		t.Errorf("its holder is %s", got)
	}
}
