package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/quantile"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// This file contains a holder process whose goroutines compute all the time. Each goroutine that can run waits for the
// processor for up to seconds, and so do the timers and goroutines of the lock.

// belief is what the busy holder believed about one context, in instants of clock.Host.
type belief struct {
	Last  clock.Instant // the last instant before a call of Err that returned nil
	Lost  bool          // the cause of the context, after its end, is a loss
	Done  clock.Instant // when a goroutine that waits for Done ran; 0: it did not yet
	Until clock.Instant // the deadline
	Cause string        // the cause of the context's end; "": it has not ended
}

// busyHolder is the process. It takes its locks, says "held", waits for a line, computes until the next line, and then
// prints what it believed.
func busyHolder(args []string) int {
	flags := flag.NewFlagSet("busyholder", flag.ExitOnError)
	how := flags.String("how", "lock", "lock, do, set or doall")
	count := flags.Int("locks", 1, "")
	busy := flags.Int("busy", 100, "the number of goroutines that compute")
	poll := flags.Bool("poll", true, "they also look at Err of the contexts")
	via := flags.String("driver", viaRueidis.name, "the driver")
	steady := flags.Duration("steady", 0, "only as many of them compute as delay others by about this time; 0: all")
	ordinary := flags.Bool("ordinary", false, "the settings of the client are the defaults")
	_ = flags.Parse(args)
	fail := func(err error) int { fmt.Println("error", err); return 1 }
	d := drivers[slices.IndexFunc(drivers, func(d driver) bool { return d.name == *via })]
	nodes, err := d.open(flags.Args()...)
	if err != nil {
		return fail(err)
	}
	cfg := settings()
	if *ordinary {
		cfg = holdfast.Config{Cluster: cfg.Cluster, Logger: quiet}
	}
	cfg.Nodes = nodes
	c, err := holdfast.New(cfg)
	if err != nil {
		return fail(err)
	}
	contexts := make([]context.Context, *count)
	untils := make([]func() time.Time, *count)
	failed := make(chan error, *count)
	for i := range *count {
		name := fmt.Sprint("busy/", i)
		with := func(ctx context.Context) error {
			contexts[i], untils[i] = ctx, func() time.Time {
				if s, ok := holdfast.LeaseSetFromContext(ctx); ok {
					return s.Deadline()
				}
				l, _ := holdfast.FromContext(ctx)
				return l.Deadline()
			}
			failed <- nil
			select {}
		}
		go func() {
			ctx := context.Background()
			switch *how {
			case "lock":
				l, err := c.Mutex(name).Lock(ctx)
				if err == nil {
					_ = with(l.Context())
				}
				failed <- err
			case "do":
				failed <- c.Mutex(name).Do(ctx, with)
			case "set":
				s, err := c.LockAll(ctx, []string{name, name + "/2"})
				if err == nil {
					_ = with(s.Context())
				}
				failed <- err
			case "doall":
				failed <- c.DoAll(ctx, []string{name, name + "/2"}, with)
			}
		}()
	}
	for range *count {
		if err := <-failed; err != nil {
			return fail(err)
		}
	}
	fmt.Println("held")
	told := bufio.NewScanner(os.Stdin)
	if !told.Scan() {
		return 1
	}
	now := clock.Host()
	lasts, dones := make([]atomic.Int64, *count), make([]atomic.Int64, *count)
	found := make([]belief, *count)
	for i, ctx := range contexts {
		found[i] = belief{Until: now.Add(time.Until(untils[i]()))}
		if !*poll {
			go func() {
				<-ctx.Done()
				dones[i].Store(int64(clock.Host()))
			}()
		}
	}
	active, longest := new(atomic.Int64), new(atomic.Int64)
	active.Store(int64(*busy))
	go watchDelay(longest, active, *busy, *steady)
	for b := range *busy {
		go func() {
			x := uint64(b)
			for i := b; !quit.Load(); i++ {
				for int64(b) >= active.Load() && !quit.Load() {
					time.Sleep(10 * time.Millisecond)
				}
				for range 10_000 { // some 10 µs
					x = x*6364136223846793005 + 1
				}
				if k := i % *count; *poll {
					at := clock.Host()
					if contexts[k].Err() == nil {
						for old := lasts[k].Load(); int64(at) > old && !lasts[k].CompareAndSwap(old, int64(at)); old = lasts[k].Load() {
						}
					}
				}
				spent.Store(x)
			}
		}()
	}
	told.Scan()
	quit.Store(true)
	why := ""
	for i, ctx := range contexts {
		found[i].Last, found[i].Done = clock.Instant(lasts[i].Load()), clock.Instant(dones[i].Load())
		if err := context.Cause(ctx); err != nil {
			found[i].Lost, found[i].Cause = errors.Is(err, holdfast.ErrLost), "as above"
			if told := err.Error(); why == "" {
				why, found[i].Cause = told, told // once, because a line of the output is not long
			}
		}
	}
	fmt.Println("delay", longest.Load())
	text, _ := json.Marshal(found)
	fmt.Printf("believed %s\n", text)
	return 0
}

// watchDelay measures how long a goroutine waits for a processor, and keeps the longest of these times. If steady is
// not 0, it changes the number of the active busy goroutines until others wait for about that time. So a test has the
// same delays on a machine with other work.
func watchDelay(longest, active *atomic.Int64, busy int, steady time.Duration) {
	if steady > 0 {
		active.Store(2)
	}
	for ; !quit.Load(); time.Sleep(20 * time.Millisecond) {
		began := time.Now()
		runtime.Gosched() // puts this goroutine behind all others that can run
		waited := time.Since(began)
		longest.Store(max(longest.Load(), int64(waited)))
		switch n := active.Load(); {
		case steady == 0:
		case waited > steady*3/2:
			active.Store(max(2, n*int64(steady)/int64(waited)))
		case waited < steady*2/3:
			active.Store(min(int64(busy), n+5))
		}
	}
}

var (
	spent atomic.Uint64 // so that the compiler keeps the computation
	quit  atomic.Bool   // ends the computation
)

var busyRuns = flag.Int("holdfast.busy", 0, "how many runs of each busy holder; 0: a sample")

// busyCase is one kind of busy holder.
type busyCase struct {
	how               string
	procs, busy, many int
}

func busyCases(t *testing.T) (cases []busyCase, runs int) {
	if *busyRuns == 0 && testing.Short() { // it keeps a processor busy
		return []busyCase{{"doall", 1, 150, 1}}, 1
	}
	if *busyRuns == 0 {
		return []busyCase{{"lock", 1, 100, 50}, {"doall", 1, 150, 1}}, 1
	}
	for _, how := range []string{"lock", "do", "set", "doall"} {
		cases = append(cases, busyCase{how, 1, 150, 1}, busyCase{how, 1, 100, 200}, busyCase{how, 2, 100, 200}, busyCase{how, 2, 200, 1})
	}
	return cases, *busyRuns
}

// Work that looks at Err of its context never believes that it has the lock when another process has it. Its process is
// so busy that timers and goroutines of the lock come seconds too late.
func TestBusyWorkThatLooksAtItsContextKnowsOfALoss(t *testing.T) {
	cases, runs := busyCases(t)
	for _, k := range cases {
		bad, worst, latest := 0, time.Duration(-1<<62), time.Duration(-1<<62)
		for range runs {
			late := time.Duration(-1 << 62)
			for _, f := range cutOffBusy(t, k, true) {
				if !f.Lost {
					t.Errorf("%+v: the cause of a context is no loss", k)
				}
				late, latest = max(late, f.Last.Sub(f.granted)), max(latest, f.Last.Sub(f.Until))
			}
			if worst = max(worst, late); late > 0 {
				bad++
			}
		}
		t.Logf("%+v: the last belief was at most %s after the deadline and %s after the next grant; two holders in %d of %d runs", k, latest, worst, bad, runs)
		if bad > 0 {
			t.Errorf("%+v: two holders in %d of %d runs", k, bad, runs)
		}
	}
}

// How long after the deadline does a goroutine run that waits for Done? There is no promise: the test only measures.
func TestDoneOfABusyProcessIsMeasured(t *testing.T) {
	if *busyRuns == 0 {
		t.Skip("only measures; run it with -holdfast.busy=5")
	}
	cases, runs := busyCases(t)
	for _, k := range cases {
		var lates []time.Duration
		bad, never := 0, 0
		for range runs {
			two := false
			for _, f := range cutOffBusy(t, k, false) {
				if f.Done == 0 {
					never++
					two = true
					continue
				}
				lates = append(lates, f.Done.Sub(f.Until))
				two = two || f.Done.Sub(f.granted) > 0
			}
			if two {
				bad++
			}
		}
		t.Logf("%+v: Done after the deadline: %s %s %s (median, 99 %%, longest), %d too late to be seen; after the next grant in %d of %d runs",
			k, quantile.Of(lates).Median(), quantile.Of(lates).Percentile(99), quantile.Of(lates).Longest(), never, bad, runs)
	}
}

// meeting is a belief, and the instant at which another process had the lock.
type meeting struct {
	belief
	granted clock.Instant
}

func cutOffBusy(t *testing.T, k busyCase, poll bool) (found []meeting) {
	t.Helper()
	s := newSet(t, 3)
	waiter := s.ready(s.client())
	net := s.network()
	p := s.process([]string{fmt.Sprint("GOMAXPROCS=", k.procs)}, append([]string{
		"busyholder", "-how", k.how, "-locks", fmt.Sprint(k.many), "-busy", fmt.Sprint(k.busy), fmt.Sprint("-poll=", poll),
	}, net.urls()...)...)
	p.until(time.Minute, "held")
	net.all(func(x *redistest.Proxy) { x.BlackHole(true) })
	p.tell()
	granted := make([]clock.Instant, k.many)
	var wait sync.WaitGroup
	for i := range k.many {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if _, err := waiter.Mutex(fmt.Sprint("busy/", i), holdfast.WaitThroughOutages()).Lock(ctx); err != nil {
				t.Error(err)
			}
			granted[i] = clock.Host()
		})
	}
	wait.Wait()
	time.Sleep(*busyAfter) // a time in which the holder may still believe; nothing tells when it will not
	p.tell()
	var beliefs []belief
	if err := json.Unmarshal([]byte(p.until(2*time.Minute, "believed")), &beliefs); err != nil {
		t.Fatal(err)
	}
	for i, b := range beliefs {
		found = append(found, meeting{b, granted[i]})
	}
	p.Kill()
	return found
}

var busyAfter = flag.Duration("holdfast.busyafter", 2*time.Second, "how long a busy holder is watched after the next grant")
