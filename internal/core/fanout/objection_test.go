package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// slowReports is a node whose answers to reports of members are late.
type slowReports struct{ node.Node }

func (n slowReports) Eval(ctx context.Context, text string, c node.Call, load ...string) node.Reply {
	if text == nodescript.PeersText() {
		time.Sleep(100 * time.Millisecond)
	}
	return n.Node.Eval(ctx, text, c, load...)
}

// A node keeps the places of two servers that this client does not list. The place of one of them ends while the
// client's report is under way. The objection then ends too, but only the next report shows who got the place. So no
// server's vote counts that the node does not keep as a member.
//
// The ids are random, and decide who gets the place: in one of eight runs a vote that counts too early does no harm.
func TestAnObjectionThatEndsDuringItsReportCounts(t *testing.T) {
	for i := range 6 {
		t.Run(fmt.Sprint(i), anObjectionThatEndsDuringItsReportCounts)
	}
}

func anObjectionThatEndsDuringItsReportCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := nodescript.Config{N: 3, MaxTTL: 80 * time.Millisecond, Window: 10 * time.Millisecond, Cluster: "test"}
		var models []*nodemodel.Node
		var nodes []node.Node
		for i := range 3 {
			m := nodemodel.Master(fmt.Sprint("run", i), nodemodel.Now, set)
			m.Serve()
			models, nodes = append(models, m), append(nodes, m)
		}
		nodes[2] = slowReports{models[2]}
		list := set.String() + "\n"
		for id, unseen := range map[string]time.Duration{"other": 0, "gone": set.MemberKept() - 10*time.Millisecond, "third": 0} {
			list += fmt.Sprintf("%d %s sim://%[2]s\n", nodemodel.Now()-unseen.Microseconds(), id)
		}
		models[0].Set(nodescript.PeersKey, list, time.Hour)
		f := New(Config{Nodes: nodes, Set: set, Timeout: time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler)})
		defer f.Close(t.Context())
		id := func(i int) string {
			for _, k := range models[i].Keys() {
				for j := 0; k.Name == nodescript.AdmissionKey && j < len(k.Fields); j += 2 {
					if k.Fields[j] == "id" {
						return k.Fields[j+1]
					}
				}
			}
			return ""
		}
		counted := 0
		for range 40 {
			for i, a := range f.AskVotes(t.Context()) {
				if a.Verdict != nodescript.Done {
					continue
				}
				counted++
				for _, k := range models[0].Keys() {
					if k.Name == nodescript.PeersKey && !strings.Contains(k.Text, " "+id(i)+" ") {
						t.Fatalf("the vote of node %d (%s) counts, and node 0 has the members\n%s", i, id(i), k.Text)
					}
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if counted == 0 {
			t.Error("no vote counted")
		}
	})
}
