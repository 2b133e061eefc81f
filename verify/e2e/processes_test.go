package e2e

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/leasetest"
	"github.com/holdfast-go/holdfast/internal/quantile"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verify/selfexec"
)

// This file contains client processes: the test binary, which is started again to wait for one lock.

func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // with this setting, children end in time
	if len(os.Args) > 1 && os.Args[1] == "waiter" {
		os.Exit(waiter(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "candidate" {
		os.Exit(candidate(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "lister" {
		os.Exit(lister(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "busyholder" {
		os.Exit(busyHolder(os.Args[2:]))
	}
	code := m.Run()
	lasting.end()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// patient sets the times of a node set whose clients are processes. All times are long enough for a busy machine.
func patient(c *holdfast.Config) {
	c.Window, c.MaxTTL, c.NodeTimeout = window, 10*time.Second, time.Second
}

// waiter is the work of the process. It prints "ready" when all nodes vote, waits for a line, and then prints the
// result of its wait for the lock. TERM ends the wait. The process holds the lock until the next line, or releases it
// at once. With -all it takes several locks, and with -shared it is a reader.
func waiter(args []string) int {
	flags := flag.NewFlagSet("waiter", flag.ExitOnError)
	name := flags.String("name", "x", "the lock")
	all := flags.String("all", "", "the locks of LockAll, with commas between them, instead of -name")
	keep := flags.Bool("keep", false, "hold it until told to go again")
	ttl := flags.Duration("ttl", 10*time.Second, "")
	shared := flags.Bool("shared", false, "take it shared")
	rounds := flags.Int("rounds", 0, "take the lock so many times, and say when; instead of once")
	_ = flags.Parse(args)
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	nodes, err := rueidisnode.Open(flags.Args()...)
	if err != nil {
		say("error %v", err)
		return 1
	}
	cfg := settings()
	patient(&cfg)
	cfg.Nodes, cfg.Fair = nodes, true
	c, err := holdfast.New(cfg)
	if err != nil {
		say("error %v", err)
		return 1
	}
	defer c.Close()
	for !leasetest.Vote(ctx, c) || !punctual(ctx, c) {
	}
	say("ready")
	told := bufio.NewScanner(os.Stdin)
	if !told.Scan() {
		return 1
	}
	take := c.Mutex(*name, holdfast.WithTTL(*ttl)).Lock
	if *shared {
		take = c.Mutex(*name, holdfast.WithTTL(*ttl)).RLock
	}
	if *rounds > 0 {
		return loop(ctx, take, *rounds, say)
	}
	var l interface{ Unlock(context.Context) error }
	fence := int64(0)
	if names := strings.Split(*all, ","); *all != "" {
		var s *holdfast.LeaseSet
		if s, err = c.LockAll(ctx, names, holdfast.WithTTL(*ttl)); err == nil {
			l, fence = s, s.Fence(names[0])
		}
	} else {
		var one *holdfast.Lease
		if one, err = take(ctx); err == nil {
			l, fence = one, one.Fence()
		}
	}
	if ctx.Err() != nil {
		say("cancelled")
		return 0
	}
	if err != nil {
		say("error %v", err)
		return 1
	}
	say("got %d", fence)
	if *keep {
		told.Scan()
	}
	if err := l.Unlock(context.Background()); err != nil {
		say("error %v", err)
		return 1
	}
	say("released")
	return 0
}

// late is the allowed difference between a ticket and the time at which it was drawn. A client reads the nodes' clocks
// with an error of up to half a round trip, which is long on a busy machine.
const late = 3 * time.Millisecond

// punctual reports whether the client's stamps, which become tickets, are right. It compares them with the clock of
// this process, because nodes and processes run on one machine.
func punctual(ctx context.Context, c *holdfast.Client) bool {
	before := time.Now()
	l, err := c.Mutex(fmt.Sprintf("punctual/%d/%p", os.Getpid(), c)).TryLock(ctx)
	after := time.Now()
	if err != nil {
		return false
	}
	l.Unlock(ctx)
	stamp := time.UnixMicro(l.Fence())
	return after.Sub(before) < late && stamp.After(before.Add(-late)) && stamp.Before(after.Add(late))
}

// process is a waiter process from the test's point of view.
type process struct {
	*selfexec.Child
	t    testing.TB
	mu   sync.Mutex
	said []saying
}

// saying is a line of a process, with the time at which the test read it. The process wrote the line earlier. So
// measured times may be too long, but not too short.
type saying struct {
	text string
	at   time.Time
}

// waiter starts a process. The process does not wait for a lock until the test calls tell.
func (s *set) waiter(args ...string) *process {
	s.t.Helper()
	return s.process(nil, append(append([]string{"waiter"}, args...), s.urls...)...)
}

// process starts the test binary as a process with these arguments and additional variables of the environment.
func (s *set) process(env []string, args ...string) *process {
	s.t.Helper()
	p := &process{t: s.t}
	p.Child = selfexec.Run(s.t, selfexec.Command(env, args...), func(line string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.said = append(p.said, saying{line, time.Now()})
	})
	return p
}

// freeze stops the process.
func (p *process) freeze() {
	p.t.Helper()
	if err := p.Freeze(); err != nil {
		p.t.Fatal(err)
	}
}

// tell sends the line for which the process waits.
func (p *process) tell() {
	p.t.Helper()
	if err := p.Tell("go"); err != nil {
		p.t.Fatal(err)
	}
}

// heard returns the rest of the line that begins with what, and the time at which the test read the line.
func (p *process) heard(what string) (rest string, at time.Time, ok bool) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.said {
		switch first, rest, _ := strings.Cut(s.text, " "); first {
		case what:
			return rest, s.at, true
		case "error":
			p.t.Fatalf("a process failed: %s", rest)
		}
	}
	return "", time.Time{}, false
}

// until waits for a line that begins with what.
func (p *process) until(within time.Duration, what string) string {
	p.t.Helper()
	var rest string
	redistest.Eventually(p.t, within, "a process to say "+what, func() (ok bool) {
		rest, _, ok = p.heard(what)
		return ok
	})
	return rest
}

// listening waits until n clients have subscribed to hand-offs on every node.
func (s *set) listening(n int) {
	s.t.Helper()
	redistest.Eventually(s.t, 20*time.Second, fmt.Sprintf("%d inboxes on every node", n), func() bool {
		for _, srv := range s.servers {
			if list, _ := srv.MustDo(s.t, "PUBSUB", "CHANNELS", nodescript.Inbox("*")).([]any); len(list) != n {
				return false
			}
		}
		return true
	})
}

// spoils contains the ways to spoil every third waiter.
var spoils = []struct {
	how  string
	does func(*process)
	cost time.Duration // the cost of each spoilt waiter for the waiters behind it
}{
	{"sound", nil, 0},
	{"killed", func(p *process) { p.Signal(syscall.SIGKILL) }, 0},
	{"frozen", (*process).freeze, time.Second}, // a frozen waiter costs its claim
	{"cancelled", func(p *process) { p.Signal(syscall.SIGTERM) }, 0},
}

// Fifty processes come one after the other and are served in that order. A third of them is spoilt during the wait. A
// process does not wait longer than the holders before it hold, plus one claim for each frozen waiter.
func TestProcessesAreServedInTheOrderTheyCame(t *testing.T) {
	t.Parallel()
	waiters := inShort(50, 15)
	// The slack is for the machine: 50 processes and 5 servers run on two cores, which other tests also use. A
	// hand-off takes a few milliseconds. Waiters notice the end of a claim that nobody used up to 15 ms late.
	const slackEach = 100 * time.Millisecond
	for _, spoil := range spoils {
		t.Run(spoil.how, func(t *testing.T) {
			t.Parallel()
			machine := watchStalls(t)
			s := newSet(t, 5)
			holder := lock(t, s.ready(s.client(patient)), "x")
			var line []*process
			for i := range waiters {
				p := s.waiter()
				line = append(line, p)
				p.until(60*time.Second, "ready")
				<-time.After(4 * late) // the pause makes its ticket higher than the previous ticket
				p.tell()
				s.inLine("x", i+1)
			}
			var sound, spoilt []*process
			for i, p := range line {
				if spoil.does != nil && i%3 == 1 {
					spoil.does(p)
					spoilt = append(spoilt, p)
				} else {
					sound = append(sound, p)
				}
			}
			// A process that is killed dies a moment later, and its servers notice this even later. Until then it
			// counts as frozen.
			switch spoil.how {
			case "killed":
				s.listening(len(sound))
			case "cancelled":
				s.inLine("x", len(sound))
			}
			begun := time.Now()
			holder.Unlock(t.Context())
			for _, p := range sound {
				p.until(time.Duration(waiters)*spoil.cost+60*time.Second, "released")
			}
			slack := time.Second + min(5*machine.most(), 3*time.Second)
			var fences []int64
			var waits []time.Duration
			// free is the time at which the name became free for the next process. before is the number of spoilt
			// processes before that process.
			free, before := begun, 0
			for i, p := range sound {
				text, got, _ := p.heard("got")
				fence, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				fences = append(fences, fence)
				skipped := 0
				if spoil.does != nil && i%2 == 1 {
					skipped = 1
				}
				before += skipped
				waits = append(waits, got.Sub(free))
				if wait, most := got.Sub(free), time.Duration(skipped)*spoil.cost+slack; wait > most {
					t.Errorf("sound waiter %d got the lock %s after it was free, with %d %s before it; at most %s", i, wait, skipped, spoil.how, most)
				}
				if wait, most := got.Sub(begun), time.Duration(before)*(spoil.cost+slackEach)+time.Duration(i+1)*slackEach+slack; wait > most {
					t.Errorf("sound waiter %d got the lock after %s, with %d %s before it; at most %s", i, wait, before, spoil.how, most)
				}
				_, free, _ = p.heard("released")
			}
			if !slices.IsSorted(fences) {
				t.Errorf("served in the order of these tokens: %v", fences)
			}
			for _, p := range spoilt {
				if _, _, got := p.heard("got"); got {
					t.Errorf("a waiter that was %s got the lock", spoil.how)
				}
			}
			sorted := quantile.Of(waits)
			t.Logf("%d processes, %d of them %s: served in %s; from free to held: median %s, most %s", waiters, len(spoilt), spoil.how,
				time.Since(begun).Round(time.Millisecond), sorted.Median().Round(10*time.Microsecond), sorted.Longest().Round(10*time.Microsecond))
		})
	}
}
