package failover

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

var again = flag.Int("failover.again", 0, "the number of times that Sentinel names a former master again, for each story; 0: the last story, once, with a short TTL")

// longTTL is so long that a lease outlives a failover. shortTTL is long enough for one by hand.
const (
	longTTL  = 8 * time.Second
	shortTTL = 4 * time.Second
)

// stories are the ways in which Sentinel names a former master again that was never a replica.
var stories = []struct {
	name string
	hand bool // an operator makes the second failover, while the second master lives; else it is killed
	cut  bool // the holder is cut off from the Sentinels before
}{
	{"killed, the holder is cut off from the Sentinels", false, true},
	{"killed", false, false},
	{"by hand", true, false},
	{"by hand, the holder is cut off from the Sentinels", true, true},
}

// The first master is frozen, and Sentinel promotes the second. A locks there. The first master comes back. It still
// has its guard, and it is no replica yet. Then Sentinel names it again. It must not vote before the lease of A is
// over.
func TestAFormerMasterThatSentinelNamesAgainDoesNotVote(t *testing.T) {
	t.Parallel()
	times := *again
	if times == 0 {
		replay(t, len(stories)-1, shortTTL)
		return
	}
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			overlaps, runs := 0, 0
			for range times {
				t.Run("", func(t *testing.T) {
					runs++
					if replay(t, i, longTTL) {
						overlaps++
					}
				})
			}
			t.Logf("%s: %d of %d runs had two holders", s.name, overlaps, runs)
		})
	}
}

// replay plays a story, and reports whether there were two holders.
func replay(t *testing.T, which int, ttl time.Duration) (overlap bool) {
	story := stories[which]
	f := redistest.StartFailover(t, 1, "")
	first, second := f.Servers[0], f.Servers[1]
	var ways []*redistest.Proxy
	var hosts []string
	for _, addr := range f.SentinelAddrs() {
		p := redistest.NewProxy(t, addr)
		ways, hosts = append(ways, p), append(hosts, p.Addr())
	}
	a := opened(t, "redis+sentinel://"+strings.Join(hosts, ",")+"/"+redistest.MasterName, ttl)
	b := opened(t, f.URL(""), ttl)
	lock(t, b, "x").Unlock(t.Context()) //nolint:errcheck // the first master votes
	first.Freeze()
	redistest.Eventually(t, time.Minute, "the first promotion", func() bool { return f.Master() == second })
	held := lock(t, a, "x")
	for _, p := range ways {
		p.Cut(story.cut)
	}
	first.Thaw()
	if story.hand {
		redistest.Eventually(t, time.Minute, "Sentinel to begin a failover", func() bool { return f.Failover() == nil })
	} else {
		redistest.Eventually(t, time.Minute, "Sentinel to see the first master", func() bool { return f.Ready() })
		second.Kill()
	}
	began := time.Now()
	wasReplica := false
	for deadline := began.Add(60 * time.Second); ; {
		wasReplica = wasReplica || first.Role() == "slave"
		l, err := b.Mutex("x").TryLock(t.Context())
		if err == nil {
			if left := time.Until(held.Deadline()); held.Context().Err() == nil {
				overlap = true
				t.Errorf("%s: two holders after %s: the first believes for another %s", story.name, time.Since(began).Round(time.Millisecond), left.Round(time.Millisecond))
			}
			l.Unlock(t.Context()) //nolint:errcheck // the run is over
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody gets the lock: %v; the Sentinels say:\n%s", err, f.Log())
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%s: acquired after %s, first master named: %t, was a replica: %t", story.name, time.Since(began).Round(time.Millisecond), f.Master() == first, wasReplica)
	return overlap
}

// opened returns a client of the node with this URL.
func opened(t *testing.T, url string, ttl time.Duration) *holdfast.Client {
	t.Helper()
	n, err := rueidisnode.New(url)
	if err != nil {
		t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: []node.Node{n}, MaxTTL: ttl, TTL: ttl, Window: window, Cluster: "again", Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// lock waits for the lock of a name, also during a quarantine.
func lock(t *testing.T, c *holdfast.Client, name string) *holdfast.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	l, err := c.Mutex(name, holdfast.WaitThroughOutages()).Lock(ctx)
	if err != nil {
		t.Fatal(fmt.Errorf("lock %s: %w", name, err))
	}
	return l
}
