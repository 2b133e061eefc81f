package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// Every field of --json is in the list that users read.
func TestTheFieldsOfJSONAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/guide/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What `--json` prints\n")
	section, _, _ = strings.Cut(section, "\n## ")
	parts := strings.Split(section, "\n`holdfast ") // one for each command
	about := func(command string) string {
		for _, p := range parts {
			if strings.HasPrefix(p, command) {
				return p
			}
		}
		t.Fatalf("monitoring.md has no part about holdfast %s --json", command)
		return ""
	}
	for command, types := range map[string][]any{
		"status": {lockJSON{}, holderJSON{}, lockNodeJSON{}}, "list": {itemOfJSON{}}, "nodes": {nodesJSON{}, nodeJSON{}},
		"doctor": {doctorJSON{}, findingJSON{}}, "jobs": {jobJSON{}, actionJSON{}, attemptJSON{}}, "leader": {leaderJSON{}},
	} {
		said := about(command)
		for _, v := range types {
			of := reflect.TypeOf(v)
			for i := range of.NumField() {
				if name := of.Field(i).Tag.Get("json"); name != "" && !strings.Contains(said, "`"+name+"`") {
					t.Errorf("the part about %s does not name the field %s", command, name)
				}
			}
		}
	}
}
