package otelholdfast

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The nodes of a set may be masters with different names behind the same Sentinels. Each of them needs attributes of
// its own. Otherwise all of them are one series, and a node that is down is hidden.
func TestMastersBehindTheSameSentinelsHaveDifferentAttributes(t *testing.T) {
	seen := map[attribute.Set]string{}
	for _, addr := range []string{
		"redis://10.0.0.1:6379", "redis://10.0.0.1:6380", "redis://10.0.0.1:6379/1", "redis://[::1]:6379/0", "unix:///tmp/a", "unix:///tmp/a?db=1", "unix:///tmp/b?db=0",
		"redis+sentinel://s1:26379/a/0", "redis+sentinel://s1:26379/b/0", "redis+sentinel://s1:26379/c/0",
		"redis+sentinel://s1:26379,s2:26379,s3:26379/a/0", "redis+sentinel://s1:26379,s2:26379,s3:26379/b/0",
		"rediss+sentinel://[::1]:26379,[::2]:26379/a/0", "rediss+sentinel://[::1]:26379,[::2]:26379/b/0",
		"a", "b", "",
	} {
		set := attribute.NewSet(server("set", addr)...)
		if other, there := seen[set]; there {
			t.Errorf("%q and %q have the same attributes %v", other, addr, set.ToSlice())
		}
		seen[set] = addr
	}
}

// One Sentinel watches the three masters of a node set. One of them is down.
func TestANodeBehindASharedSentinelIsShownAsDown(t *testing.T) {
	t.Parallel()
	f := redistest.StartFailover(t, 0, "")
	servers := append(redistest.StartN(t, 2), f.Servers[0])
	sentinel := f.SentinelAddrs()[0]
	var urls []string
	for i, s := range servers {
		name := fmt.Sprint("m", i)
		c, err := net.Dial("tcp", sentinel)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "SENTINEL MONITOR %s 127.0.0.1 %d 1\r\n", name, s.Port())
		if said, err := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(said, "+OK") {
			t.Fatalf("SENTINEL MONITOR: %q, %v", said, err)
		}
		urls = append(urls, "redis+sentinel://"+sentinel+"/"+name)
	}
	nodes, err := rueidisnode.Open(urls...)
	if err != nil {
		t.Fatal(err)
	}
	m := newMeter(t, MetricsOptions{})
	c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: 2 * time.Second, Window: 200 * time.Millisecond, Cluster: "test", Observers: []holdfast.Observer{m.Observer()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	up := func() (all []int64) {
		for i := range servers {
			all = append(all, int64(m.value("holdfast.node.up", serverAddress.String(urls[i]+"/0"))))
		}
		return all
	}
	redistest.Eventually(t, 20*time.Second, "three nodes", func() bool { return fmt.Sprint(up()) == "[1 1 1]" })
	servers[0].Kill()
	redistest.Eventually(t, 20*time.Second, "a node to be down", func() bool { return fmt.Sprint(up()) == "[0 1 1]" })
}
