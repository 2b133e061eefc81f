package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/verdict"
)

const benchHelp = `bench measures the cost of a lock on your nodes, from the machine on which it
runs. It has three phases of --duration each:

  one at a time   one goroutine locks and unlocks one name. This is the time of
                  a lock without contention
  many            --goroutines goroutines of one client lock and unlock, each
                  its own name. This is the rate of a busy process. The CPU of
                  this machine may limit it
  hand-off        --waiters clients take turns on one name. This is the time
                  from the call of Unlock in one client to the return of Lock
                  in the next client of the queue

At the same time it measures each node, as this process sees it:

  P50, P99        the round trip of a pipeline, one at a time and with many
  IN MAJORITY     the share of the locks and unlocks, made one at a time, in
                  which the node was among the first majority to answer. If 5
                  nodes are equally fast, each has 60%. A node with 0% is slower
                  than the others, or silent. Operations that no majority
                  answered do not count
  PER PIPELINE    locks and unlocks in one pipeline, with many
  CALLS, FAILED   all calls; the calls and greetings without an answer or with
                  an error

Each percentile is one of the samples (nearest rank), and no sample is left out.

bench locks only names of its own, holdfast-bench/RANDOM/…, so it takes no lock
of other clients. It does load the nodes. At its end, also after an interrupt,
it releases its locks and prints its results. As after every lock, a record of
some 200 bytes per name stays on the nodes for two hours.

Exit codes: 69 if no quorum answers or votes, 75 if somebody else took one of
its names, 76 if a lock was lost, 128+n if signal n ended it.`

// benchFlags contains the flags that only bench has.
type benchFlags struct {
	ttl, duration       duration
	goroutines, waiters int
	asJSON              bool
}

const (
	leastDuration, mostDuration = 100 * time.Millisecond, 5 * time.Minute // limits the memory: every sample is kept
	mostGoroutines              = 4096
	mostWaiters                 = 32
)

func (a *app) bench() *cobra.Command {
	f := benchFlags{duration: duration{value: 3 * time.Second, given: true}, goroutines: 64, waiters: 2}
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure what a lock costs on your nodes",
		Long:    benchHelp,
		Example: "  holdfast bench --nodes redis://a,redis://b,redis://c\n  holdfast bench --duration 10s --goroutines 256 --json",
		Args:    none,
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usage(err, "")
			}
			if a.settings.onCluster() {
				return usage(errors.New("bench measures single nodes, and no Redis Cluster"),
					"for the cost of one shard, measure a server that runs without cluster-enabled: --nodes redis://HOST")
			}
			return a.measure(cmd.OutOrStdout(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.duration, "duration", "how long each phase takes, from 100ms to 5m")
	flags.IntVar(&f.goroutines, "goroutines", f.goroutines, "how many lock at once in the second phase, from 1 to 4096")
	flags.IntVar(&f.waiters, "waiters", f.waiters, "how many clients take turns in the third phase, from 2 to 32")
	flags.Var(&f.ttl, "ttl", "TTL of the locks (default 10s, or --max-ttl if less)")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f benchFlags) check() error {
	switch {
	case f.duration.value < leastDuration || f.duration.value > mostDuration:
		return fmt.Errorf("--duration is %s; it must be from %s to %s", f.duration.value, leastDuration, mostDuration)
	case f.goroutines < 1 || f.goroutines > mostGoroutines:
		return fmt.Errorf("--goroutines is %d; it must be from 1 to %d", f.goroutines, mostGoroutines)
	case f.waiters < 2 || f.waiters > mostWaiters:
		return fmt.Errorf("--waiters is %d; it must be from 2 to %d", f.waiters, mostWaiters)
	}
	return nil
}

// bench is one measurement and its results.
type bench struct {
	*app
	flags   benchFlags
	prefix  string // all names that bench locks begin with this
	client  *holdfast.Client
	gauge   *gauge
	started time.Time

	one, many *cycles // nil: the phase has not begun
	relay     *relay
	standing  []verdict.Answer // the nodes' answers at the end
}

// measure measures and prints the results. It prints the results so far if an error or a signal ends the measurement.
func (a *app) measure(out io.Writer, f benchFlags) error {
	b := &bench{app: a, flags: f, prefix: "holdfast-bench/" + strings.ToLower(rand.Text()[:10]) + "/", started: time.Now()}
	client, err := b.open()
	if err != nil {
		return err
	}
	b.client = client
	sig := a.catchSignals()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := sig.interrupt(cancel)
	a.hold() // the table shows the nodes that do not vote, so warnings would say the same
	err = b.run(ctx)
	b.gauge.begin(noPhase)
	if b.one != nil {
		b.standing = b.nodeStates()
	}
	b.close(client)
	if s := stop(); s != nil {
		err = s
	}
	if b.one == nil {
		return err
	}
	if e := show(out, f.asJSON, benchJSON(b), func() error { return printBench(out, b) }); e != nil {
		return e
	}
	return err
}

// run runs the phases in their order.
func (b *bench) run(ctx context.Context) error {
	n, d := len(b.settings.urls()), b.flags.duration.value
	b.say("measuring %s from this machine: 3 phases of %s, on names of its own, %s…", printable.Count(n, "node"), d, b.prefix)
	list := admin.Nodes(ctx, b.client)
	if ctx.Err() != nil {
		return nil // the caller reports the signal
	}
	for _, s := range list {
		if !s.Votes() {
			b.say("node %s", s)
		}
	}
	if err := b.quorumOf(list); err != nil {
		return err
	}
	return b.phases(ctx, d)
}

func (b *bench) phases(ctx context.Context, d time.Duration) (err error) {
	b.say("one at a time, %s", d)
	b.gauge.begin(phaseOne)
	b.one, err = cycle(ctx, b.client, []string{b.prefix + "one"}, d)
	if err != nil || ctx.Err() != nil {
		return b.ended(err)
	}
	b.say("%d at once, %s", b.flags.goroutines, d)
	var names []string
	for i := range b.flags.goroutines {
		names = append(names, fmt.Sprintf("%smany/%d", b.prefix, i))
	}
	b.gauge.begin(phaseMany)
	b.many, err = cycle(ctx, b.client, names, d)
	if err != nil || ctx.Err() != nil {
		return b.ended(err)
	}
	b.say("hand-off among %d clients, %s", b.flags.waiters, d)
	clients := make([]*holdfast.Client, b.flags.waiters)
	defer b.close(clients...)
	for i := range clients {
		if clients[i], err = b.open(); err != nil {
			return err
		}
	}
	b.greet(ctx, clients)
	b.gauge.begin(phaseHandOff)
	defer b.gauge.begin(noPhase)
	b.relay = newRelay(len(clients))
	return b.ended(b.relay.run(ctx, clients, b.prefix+"hot", d))
}

// open makes a client whose calls to nodes are measured.
func (b *bench) open() (*holdfast.Client, error) {
	return b.settings.open(b.talker, func(c *holdfast.Config) {
		if b.gauge == nil {
			b.gauge = newGauge(len(c.Nodes))
		}
		b.gauge.wrap(c.Nodes)
		c.TTL = b.flags.ttl.value
	})
}

// greet lets each new client greet the nodes before a phase begins, so that the phase does not contain the greetings.
func (b *bench) greet(ctx context.Context, clients []*holdfast.Client) {
	var wait sync.WaitGroup
	for _, c := range clients {
		wait.Go(func() { admin.Nodes(ctx, c) })
	}
	wait.Wait()
}

// close releases the locks of the clients and closes the clients.
func (b *bench) close(clients ...*holdfast.Client) {
	var wait sync.WaitGroup
	for _, c := range clients {
		if c == nil {
			continue
		}
		wait.Go(func() {
			if err := c.Close(); err != nil {
				b.say("%s; they end with their TTL", trimmed(err))
			}
		})
	}
	wait.Wait()
}

// nodeStates asks the nodes for their present state. It does so also after an interrupt.
func (b *bench) nodeStates() []verdict.Answer {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return admin.Nodes(ctx, b.client)
}

// ended adds an exit code and a hint to the error of a phase.
func (b *bench) ended(err error) error {
	var un *holdfast.UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &un):
		return &failure{code: exitUnavailable, err: err, hint: b.settings.unavailableHint(un)}
	case errors.Is(err, holdfast.ErrLost):
		return &failure{code: exitLost, err: err, hint: "this process stood still, or a majority of the nodes did not answer, for as long as the lock lasts"}
	case errors.Is(err, holdfast.ErrHeld):
		return &failure{code: exitHeld, err: err}
	}
	return err
}

// ttl returns the TTL of the locks: see Config.TTL.
func (b *bench) ttl() time.Duration {
	if b.flags.ttl.given {
		return b.flags.ttl.value
	}
	return min(10*time.Second, b.maxTTL())
}
