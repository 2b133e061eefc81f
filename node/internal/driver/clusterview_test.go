package driver

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// id returns the id of a server with a short name.
func id(name string) string { return fmt.Sprintf("%040s", fmt.Sprintf("%x", name)) }

func TestAnAnswerToClusterNodesIsRead(t *testing.T) {
	a, b, d, e := id("a"), id("b"), id("d"), id("e")
	text := strings.Join([]string{
		a + " 10.0.0.1:7001@17001,,shard-id=69bc myself,master - 0 1426238317239 4 connected 0-5460 [93-<-" + b + "] 7000",
		b + " :7002@17002,host-b master - 0 1426238316232 2 connected 5461-6999 [77->-" + a + "]",
		id("c") + " ?:7003@17003,Host-C.example,tls-port=0,shard-id=1 master,fail - 0 1426238318243 0 disconnected",
		d + " 10.0.0.4:7004@17004,host-d slave,fail? " + a + " 0 1426238317741 4 connected",
		e + " [::1]:7005 slave,nofailover " + b + " 0 1426238317741 2 connected", // Redis 3 has no @
		id("f") + " fe80::1:7006@17006 master - 0 0 5 connected 16383",
		id("g") + " :0@0 slave,fail,noaddr " + b + " 0 0 2 disconnected",
		id("h") + " 10.0.0.8:7008@17008 handshake - 0 0 0 connected",
		id("i") + " :7009@17009 master - 0 0 0 connected",
		id("j") + " 10.0.0.10:7010@17010 slave - 0 0 0 connected", "",
	}, "\n")
	v, err := parseView(text, "[::2]:9")
	if err != nil {
		t.Fatal(err)
	}
	want := view{
		self: a,
		members: []member{
			{a, "10.0.0.1:7001", "", ""}, {b, "host-b:7002", "", ""}, {id("c"), "host-c.example:7003", "", "fail"}, {d, "10.0.0.4:7004", a, "fail?"},
			{e, "[::1]:7005", b, ""}, {id("f"), "[fe80::1]:7006", "", ""}, {id("i"), "[::2]:7009", "", ""},
			{id("j"), "10.0.0.10:7010", nobody, ""},
		},
		spans: []span{{0, 5460, a, 4}, {5461, 6999, b, 2}, {7000, 7000, a, 4}, {16383, 16383, id("f"), 5}},
		epoch: 4,
	}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("%+v\nwant %+v", v, want)
	}
}

func TestAnUnreadableAnswerToClusterNodesIsRefused(t *testing.T) {
	a, b := id("a"), id("b")
	me := a + " 10.0.0.1:7001@17001 myself,master - 0 0 4 connected 0-5460"
	if _, err := parseView(me, ""); err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{
		"":                                    "no server has the flag myself",
		strings.Replace(me, "myself,", "", 1): "no server has the flag myself",
		"redis_version:7.0.15":                "1 fields",
		strings.Replace(me, a, a[1:], 1):      "no id",
		strings.Replace(me, a, strings.ToUpper(id("z")), 1):       "no id",
		strings.Replace(me, " 4 ", " -1 ", 1):                     "no config-epoch",
		strings.Replace(me, "myself,master", "myself", 1):         "neither a master nor a replica",
		strings.Replace(me, "master -", "slave x", 1):             "a replica without a master",
		strings.Replace(me, "master -", "slave "+b, 1):            "a replica with hash slots",
		strings.Replace(me, "master -", "slave -", 1):             "a replica with hash slots",
		me + "\n" + strings.Replace(me, "myself,", "", 1):         "the same id twice",
		me + "\n" + strings.Replace(me, a, b, 1):                  "the flag myself twice",
		strings.Replace(me, "10.0.0.1:7001@17001", "10.0.0.1", 1): "no address",
		strings.Replace(me, ":7001@", ":@", 1):                    "no port",
		strings.Replace(me, ":7001@", ":0@", 1):                   "no port",
		strings.Replace(me, ":7001@", ":70010@", 1):               "no port",
		me + " 16384":   "the hash slots \"16384\"",
		me + " 9000-1":  "the hash slots \"9000-1\"",
		me + " x":       "the hash slots \"x\"",
		me + " 1-2-3":   "the hash slots \"1-2-3\"",
		me + " [93-<-x": "the hash slots \"[93-<-x\"",
		me + " 5460":    "two owners of the hash slot 5460",
		me + "\n" + strings.NewReplacer(a, b, "myself,", "", "0-5460", "5000-6000").Replace(me): "two owners of the hash slot 5000",
	} {
		v, err := parseView(text, "10.0.0.1:7001")
		if !errors.Is(err, errNodes) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want %q", text, v, err, says)
		}
	}
}
