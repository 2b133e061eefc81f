package doctor

import (
	"reflect"
	"strings"
	"testing"
)

func TestAnAnswerToClusterNodesIsRead(t *testing.T) {
	t.Parallel()
	a, b, c, d := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40), strings.Repeat("d", 40)
	text := strings.Join([]string{
		a + " 10.0.0.1:7001@17001,,shard-id=69bc myself,master - 0 0 4 connected 0-5460 [93-<-" + b + "] [77->-" + b + "]",
		b + " :7002@17002,host-b master,fail? - 0 0 2 connected 5461-16383",
		c + " 10.0.0.3:7003@17003 slave - 0 0 0 connected", // its master was forgotten with CLUSTER FORGET
		d + " ::1:7004 slave,fail " + b + " 0 0 2 disconnected",
		"redis_version:7.0.15", "",
	}, "\n")
	want := []member{
		{id: a, addr: "10.0.0.1:7001", self: true, moves: []move{{"93", b, false}, {"77", b, true}}},
		{id: b, addr: "host-b:7002", state: "fail?"}, {id: c, addr: "10.0.0.3:7003"}, {id: d, addr: "[::1]:7004", state: "fail"},
	}
	if got := members(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
