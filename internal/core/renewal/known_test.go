package renewal

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/fanout"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/quorum"
	"github.com/holdfast-go/holdfast/internal/core/waiting"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// A known result is returned even if the context has ended. An earlier version chose between the two at random.
func TestWhatIsKnownIsSaidAlsoUnderADeadContext(t *testing.T) {
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	for range 50 {
		suspended(t, time.Minute, func(e *Lease, _ *mute, _ func(time.Duration)) {
			passed := func(_ nodescript.Kind, _ waiting.Won, _ int64, _ clock.Instant, release func(bool, time.Duration)) {
				release(true, 0)
			}
			if err := e.Release(dead, passed); err != nil {
				t.Errorf("Release of a lease that was passed on: %v", err)
			}
			if err := e.Extend(dead, time.Minute); !errors.Is(err, ErrReleased) {
				t.Errorf("Extend of a lease that was given back: %v; want ErrReleased", err)
			}
		})
	}
}

// voter is a node that gives a fixed answer to renewals after a delay.
type voter struct {
	*nodemodel.Node
	extend, says string
	after        time.Duration
}

func (n voter) EvalSHA(ctx context.Context, calls []node.Call) []node.Reply {
	replies := make([]node.Reply, len(calls))
	for i, c := range calls {
		replies[i].Value = "D"
		if c.SHA != n.extend {
			continue
		}
		select {
		case <-time.After(n.after):
			replies[i].Value = late(n.says, c)
		case <-ctx.Done():
			replies[i].Err = ctx.Err()
		}
	}
	return replies
}

// late returns the answer to a renewal. A yes like E+1s is late, with this excess.
func late(says string, c node.Call) string {
	yes, by, ok := strings.Cut(says, "+")
	if !ok {
		return says
	}
	excess, _ := time.ParseDuration(by)
	stamp, _ := strconv.ParseInt(c.Args[4], 10, 64)
	return yes + nodescript.Micros(stamp+(250*time.Millisecond+excess).Microseconds())
}

// voters runs f with a lease on nodes that give these answers to renewals, each after its delay.
func voters(t *testing.T, says []string, after []time.Duration, f func(e *Lease)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const ttl, window = 10 * time.Second, 250 * time.Millisecond
		set := nodescript.Config{N: len(says), MaxTTL: ttl, Window: window, Cluster: "test"}
		var nodes []node.Node
		for i := range says {
			run := "run" + string(rune('0'+i))
			m := nodemodel.Master(run, nodemodel.Now, set)
			m.Set(nodescript.GuardKey, set.String()+" "+run, 0)
			m.HSet(nodescript.AdmissionKey, "run", run)
			m.HSet(nodescript.AdmissionKey, "config", set.String())
			m.HSet(nodescript.AdmissionKey, "evicted", "0")
			m.HSet(nodescript.AdmissionKey, "id", "id-"+run)
			nodes = append(nodes, voter{m, nodescript.NewScripts(set, run).SHA(nodescript.Extend), says[i], after[i]})
		}
		fan := fanout.New(fanout.Config{
			Nodes: nodes, Set: set, Timeout: 5 * time.Second, Clock: clock.Monotonic(), Random: rand.Uint64, Logger: slog.New(slog.DiscardHandler),
		})
		defer fan.Close(context.Background())
		fan.AskVotes(context.Background())
		k := NewKeeper(fan)
		defer k.Close()
		now := fan.Now()
		f(k.Keep(context.Background(), nodescript.NewExclusive(nodescript.Lock{Name: "x"}), waiting.Won{
			Owner: "a~b~c", Token: 1, Sent: now, Deadline: quorum.Deadline(now, ttl, window),
		}, ttl, nil))
	})
}

// A node that repaired the lease says yes, and says that it had lost the lease. If other nodes may still say the same,
// Extend waits for their answers, but not for a node that hangs.
func TestExtendWaitsForAnswersThatMayStillDecide(t *testing.T) {
	const soon, never = 20 * time.Millisecond, time.Hour
	gone := "Lnother"
	for _, c := range []struct {
		says  string // one letter for each node
		after []time.Duration
		want  error
		most  time.Duration
	}{
		{"ERR", []time.Duration{0, 0, soon}, ErrLost, soon},
		{"ERE", []time.Duration{0, 0, soon}, nil, soon},
		{"ERR", []time.Duration{0, 0, never}, nil, 250 * time.Millisecond}, // Extend waits for a window
		{"EEE", []time.Duration{0, 0, never}, nil, 0},
		{"EEERR", []time.Duration{0, 0, 0, 0, soon}, nil, 0}, // the last answer cannot complete a majority of three
		{"EERRR", []time.Duration{0, 0, 0, soon, soon}, ErrLost, soon},
		{"LEEEE", []time.Duration{0, soon, never, never, never}, ErrNoQuorum, 6 * time.Second},
	} {
		says := strings.Split(c.says, "")
		for i := range says {
			if says[i] == "L" {
				says[i] = gone
			}
		}
		voters(t, says, c.after, func(e *Lease) {
			start := time.Now()
			err := e.Extend(context.Background(), 10*time.Second)
			if took := time.Since(start); !errors.Is(err, c.want) || took > c.most {
				t.Errorf("%s after %v: Extend returned %v after %s; want %v within %s", c.says, c.after, err, took, c.want, c.most)
			}
		})
	}
}
