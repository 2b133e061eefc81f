package failover

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/goredisnode"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

var (
	promotions = flag.Int("failover.n", 1, "the number of promotions on each node")
	sets       = flag.Int("failover.sets", 1, "the number of nodes, each with its own servers and Sentinels")
)

const (
	maxTTL = 3 * time.Second
	window = 250 * time.Millisecond
)

// faults are the reasons of promotions. Each begins the fault, and returns its end.
var faults = []struct {
	name  string
	lives bool // the former master may still answer clients
	begin func(t *testing.T, f *redistest.Failover, master *redistest.Server) (end func())
}{
	{"master killed", false, func(_ *testing.T, _ *redistest.Failover, master *redistest.Server) func() {
		master.Kill()
		return master.Restart
	}},
	{"master frozen", true, func(_ *testing.T, _ *redistest.Failover, master *redistest.Server) func() {
		master.Freeze()
		return master.Thaw
	}},
	{"SENTINEL FAILOVER", true, func(t *testing.T, f *redistest.Failover, _ *redistest.Server) func() {
		redistest.Eventually(t, 20*time.Second, "Sentinel to begin a failover", func() bool { return f.Failover() == nil })
		return func() {}
	}},
}

// byRequest is the index of the fault in which Sentinel promotes a replica on request.
const byRequest = 2

// outcome is one promotion.
type outcome struct {
	fault             int
	failover, without time.Duration // until Sentinel named another master; until somebody got a lock
	lost              int
	named             bool // the node said that it was promoted
	moved             bool // Sentinel changed the servers' roles again before somebody got a lock
}

// trial is one node under load.
type trial struct {
	*court
	wait     string
	client0  *holdfast.Client
	f        *redistest.Failover
	outcomes []outcome
	strays   int // leases that were lost without a promotion
}

func TestPromotionsUnderLoad(t *testing.T) {
	trials := make([]*trial, *sets)
	t.Run("promotions", func(t *testing.T) {
		for i := range trials {
			trials[i] = &trial{court: newCourt()}
			if i%2 == 1 {
				trials[i].wait = "?wait=1"
			}
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				trials[i].run(t, i)
			})
		}
	})
	report(t, trials)
}

func (tr *trial) run(t *testing.T, first int) {
	tr.f = redistest.StartFailover(t, 2, "")
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	defer load.Wait()
	defer stop()
	for i := range 3 {
		c := tr.client(t, i == 2)
		tr.client0 = cmp.Or(tr.client0, c)
		for _, name := range []string{"a", "b", "c"} {
			load.Go(func() { tr.work(ctx, t, c, name) })
		}
	}
	load.Go(func() { tr.probe(ctx) })
	redistest.Eventually(t, 30*time.Second, "the first lock", func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return len(tr.grants) > 0
	})
	for i := range *promotions {
		tr.promote(t, (first+i)%len(faults))
	}
}

// client opens a client with one of the drivers.
func (tr *trial) client(t *testing.T, goredis bool) *holdfast.Client {
	t.Helper()
	var n node.Node
	var err error
	if goredis {
		redis.SetLogger(silent{})
		client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: redistest.MasterName, SentinelAddrs: tr.f.SentinelAddrs()})
		t.Cleanup(func() { _ = client.Close() })
		replicas := len(tr.wait) / len("?wait=1")
		n, err = goredisnode.New(client, goredisnode.Replicated(replicas, 0))
	} else {
		n, err = rueidisnode.New(tr.f.URL(tr.wait))
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := holdfast.New(holdfast.Config{
		Nodes: []node.Node{n}, MaxTTL: maxTTL, Window: window, Cluster: "failover", Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// work takes and gives back the lock of name until ctx ends. Every eighth lease lasts longer than a failover.
func (tr *trial) work(ctx context.Context, t *testing.T, c *holdfast.Client, name string) {
	for ctx.Err() == nil {
		l, err := c.Mutex(name, holdfast.WaitThroughOutages()).Lock(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("Lock: %v", err)
			}
			return
		}
		tr.took(name, l)
		hold := time.Duration(rand.IntN(30)) * time.Millisecond
		if rand.IntN(8) == 0 {
			hold = 4 * time.Second
		}
		select {
		case <-time.After(hold):
		case <-l.Context().Done():
		case <-ctx.Done():
		}
		tr.leaves(name, l)
		l.Unlock(context.WithoutCancel(ctx)) //nolint:errcheck // leaves has counted a loss
	}
}

// probe takes and gives back the lock that nobody else wants until ctx ends.
func (tr *trial) probe(ctx context.Context) {
	for ctx.Err() == nil {
		if l, err := tr.client0.Mutex(probed).TryLock(ctx); err == nil {
			tr.took(probed, l)
			tr.leaves(probed, l)
			l.Unlock(context.WithoutCancel(ctx)) //nolint:errcheck // leaves has counted a loss
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// promote makes one promotion, and measures it.
func (tr *trial) promote(t *testing.T, fault int) {
	var master *redistest.Server
	redistest.Eventually(t, 30*time.Second, "a master with two replicas", func() bool {
		master = tr.f.Master()
		return master != nil && tr.f.InSync() == 2
	})
	tr.mu.Lock()
	lost := len(tr.lost)
	tr.grants, tr.alive = tr.grants[:0], faults[fault].lives
	tr.mu.Unlock()
	began := time.Now()
	end := faults[fault].begin(t, tr.f, master)
	asked := time.Now()
	var next *redistest.Server
	defer func() {
		if next == nil || next == master {
			t.Logf("%s: no promotion; the Sentinels say:\n%s", faults[fault].name, tr.f.Log())
		}
	}()
	redistest.Eventually(t, 30*time.Second, "a promotion", func() bool {
		if fault == byRequest && time.Since(asked) > 5*time.Second { // Sentinel may give a failover up
			asked = time.Now()
			_ = tr.f.Failover() // asked again until there is a promotion
		}
		next = tr.f.Master()
		return next != nil && next != master
	})
	promoted := time.Now()
	end()
	bound, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	look, done := context.WithCancel(bound)
	said, settled := make(chan []verdict.Answer), make(chan time.Time)
	go func() { said <- tr.answers(look) }()
	go func() { settled <- tr.settle(look, promoted) }()
	// The former master may still grant for a moment, if it still runs. The new master grants nothing for three
	// seconds.
	from, granted, ok := tr.gapUntil(bound, began, promoted.Add(1600*time.Millisecond))
	done()
	answers, last := <-said, <-settled
	if !ok {
		t.Fatalf("%s: nobody gets a lock after the promotion", faults[fault].name)
	}
	o := outcome{fault: fault, failover: promoted.Sub(began), without: granted.Sub(from), moved: last.Sub(promoted) > time.Second}
	o.named = slices.ContainsFunc(answers, func(a verdict.Answer) bool {
		return a.Cause == verdict.CausePromoted || a.Cause == verdict.CauseNamed // the latter if a client of go-redis, which knows no epoch, came first
	})
	if o.moved {
		t.Logf("%s: Sentinel changed the roles again, until %s after the promotion; nobody got a lock for %s", faults[fault].name, last.Sub(promoted), o.without)
	}
	if most := last.Sub(began) + maxTTL + window + time.Second; o.without > most {
		t.Logf("the Sentinels say:\n%s", tr.f.Log())
		t.Errorf("%s: nobody got a lock for %s; want at most %s; the node said: %v", faults[fault].name, o.without, most, answers)
	}
	// Sentinel makes the former master a replica some ten seconds later. This loop does the same at once, to save time.
	redistest.Eventually(t, 30*time.Second, "the former master to follow", func() bool {
		_, err := master.Do("REPLICAOF", "127.0.0.1", next.Port())
		return err == nil
	})
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, at := range tr.lost[lost:] {
		if o.lost++; at.After(promoted.Add(maxTTL + window)) {
			tr.strays++
		}
	}
	tr.outcomes = append(tr.outcomes, o)
}

// settle watches the servers until ctx ends. It returns when their roles changed last, at least from: Sentinel may
// promote another replica, or make the new master a replica and promote it again. Each time the quarantine begins
// again. Sentinel may also give the other replica to the former master. With wait=1 the new master then grants nothing
// until it has one.
func (tr *trial) settle(ctx context.Context, from time.Time) (last time.Time) {
	last = from
	of := ""
	for ctx.Err() == nil {
		master := tr.f.Master()
		now := ""
		if master != nil && (tr.wait == "" || master.Replicas() > 0) {
			now = master.ReplicationID()
		}
		if now == "" || of != "" && now != of {
			last = time.Now()
		}
		of = cmp.Or(now, of)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return last
}

// answers returns what the node says until ctx ends, without repetitions.
func (tr *trial) answers(ctx context.Context) (all []verdict.Answer) {
	for ctx.Err() == nil {
		a := admin.Nodes(ctx, tr.client0)[0]
		if n := len(all); n == 0 || all[n-1].Reason != a.Reason || all[n-1].Cause != a.Cause || a.VotesIn > all[n-1].VotesIn {
			all = append(all, a)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return all
}

// report prints a table, and fails the test for each result that docs/guide/limits.md does not name.
func report(t *testing.T, trials []*trial) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "FAULT\tWAIT\tPROMOTIONS\tFAILOVER MEAN\tMAX\tNOBODY GOT A LOCK MEAN\tMAX\tNAMED PROMOTED\tROLES CHANGED AGAIN\tLEASES LOST")
	for i, fault := range faults {
		for _, wait := range []string{"", "?wait=1"} {
			var n, lost, named, moved int
			var sum, most outcome
			for _, tr := range trials {
				for _, o := range tr.outcomes {
					if o.fault != i || tr.wait != wait {
						continue
					}
					n, lost = n+1, lost+o.lost
					if o.named {
						named++
					}
					if o.moved {
						moved++
					}
					sum.failover, sum.without = sum.failover+o.failover, sum.without+o.without
					most.failover, most.without = max(most.failover, o.failover), max(most.without, o.without)
				}
			}
			if n > 0 {
				fmt.Fprintf(w, "%s\t%t\t%d\t%.1fs\t%.1fs\t%.1fs\t%.1fs\t%d\t%d\t%d\n", fault.name, wait != "", n, (sum.failover / time.Duration(n)).Seconds(),
					most.failover.Seconds(), (sum.without / time.Duration(n)).Seconds(), most.without.Seconds(), named, moved, lost)
			}
		}
	}
	_ = w.Flush() // into memory
	overlaps, named, back, strays := 0, 0, 0, 0
	for _, tr := range trials {
		overlaps, named, back, strays = overlaps+len(tr.overlaps), named+tr.ofAlive, back+tr.back, strays+tr.strays
		for _, o := range tr.overlaps {
			t.Errorf("two holders: %s", o)
		}
	}
	t.Logf("\n%soverlaps: %d, with leases of a former master that lived: %d, tokens that did not grow: %d, leases lost without a promotion: %d\n", text.String(), overlaps+named, named, back, strays)
	if back > 0 || strays > 0 {
		t.Errorf("%d tokens did not grow, and %d leases were lost without a promotion", back, strays)
	}
}
