package e2e

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// slowly is the least window of these tests. A client waits for the clocks of two nodes, which come after four fifths
// of it. Meanwhile a third node restarts, which takes a tenth of it on an idle machine.
const slowly = 500 * time.Millisecond

// A client greets a node, and the node restarts with the data of a moment ago. The client's request for the ended
// incarnation comes to the new incarnation. The new incarnation refuses the request, and the scripts of the request
// must not follow. With the guard of the snapshot, these scripts would vote. Another client, whose idle connection was
// silently renewed, would get no NOSCRIPT.
func TestScriptsThatComeAfterARestartVoteForNobody(t *testing.T) {
	t.Parallel()
	// A restart takes longer on a busy machine, so each second window is twice as long.
	for try := range 6 {
		if requestAfterARestart(t, slowly<<(try/2)) {
			return
		}
	}
	t.Error("in six tries no request crossed the restart")
}

// crossing counts messages of a client to a node that restarts.
type crossing struct {
	run      string // the run id of the previous incarnation
	over     atomic.Bool
	requests atomic.Int32 // the number of requests for its vote that came after its end
	scripts  atomic.Int32 // the number of its scripts that came after its end
}

func newCrossing(t *testing.T, srv *redistest.Server) *crossing {
	t.Helper()
	_, run, _ := strings.Cut(srv.MustDo(t, "INFO", "server").(string), "run_id:")
	return &crossing{run: run[:40]}
}

// sees notes one command.
func (x *crossing) sees(command []string) {
	switch {
	case !x.over.Load() || !strings.Contains(strings.Join(command, " "), x.run):
	case strings.EqualFold(command[0], "EVAL"):
		x.requests.Add(1)
	case strings.EqualFold(command[0], "SCRIPT"):
		x.scripts.Add(1)
	}
}

// requestAfterARestart runs the case once. It reports whether a request for the ended incarnation came after the
// restart.
func requestAfterARestart(t *testing.T, window time.Duration) bool {
	t.Helper()
	s := newSet(t, 3)
	direct := s.urls
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.Window = 20*window, 20*window, window }

	idle := s.ready(s.client(long))
	holders, _ := s.through(t)
	holder := s.ready(s.client(long))
	s.servers[2].MustDo(t, "SAVE")
	holders[1].BlackHole(true)
	lease := lock(t, holder, "x") // nodes 0 and 2 grant the lease

	// The third client waits for the clocks of the other nodes after it has greeted node 2.
	lookers, _ := s.through(t)
	lookers[0].DelayRequests(window * 4 / 5)
	lookers[1].DelayRequests(window * 4 / 5)
	greeted, crossed := make(chan bool, 100), newCrossing(t, s.servers[2])
	lookers[2].Treat(func(c []string) redistest.Treatment {
		crossed.sees(c)
		if strings.EqualFold(c[0], "EVAL") {
			select {
			case greeted <- true:
			default:
			}
		}
		return redistest.Treatment{}
	})
	evals := func() string {
		stats, _ := s.servers[2].MustDo(t, "INFO", "commandstats").(string)
		_, calls, _ := strings.Cut(stats, "cmdstat_eval:calls=")
		calls, _, _ = strings.Cut(calls, ",")
		return calls
	}
	before := evals()
	looker := s.client(long, func(c *holdfast.Config) { c.NodeTimeout = 4 * window })
	s.urls = direct
	looked := make(chan bool)
	go func() { defer close(looked); admin.Nodes(context.Background(), looker) }()
	<-greeted
	redistest.Eventually(t, 10*time.Second, "the node has run the greeting", func() bool { return evals() != before })
	s.servers[2].Kill()
	crossed.over.Store(true)
	s.servers[2].Restart()
	<-looked

	second, err := idle.Mutex("x").TryLock(t.Context())
	if err == nil && lease.Context().Err() == nil {
		t.Errorf("two holders: one with token %d, which believes for another %s; one with token %d", lease.Fence(), time.Until(lease.Deadline()), second.Fence())
	}
	if err != nil && !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) {
		t.Error(err)
	}
	if n := crossed.scripts.Load(); n > 0 {
		t.Errorf("%d scripts of the incarnation before were sent to the new one", n)
	}
	t.Logf("%d requests came after the restart; the other was told: %v", crossed.requests.Load(), err)
	return crossed.requests.Load() > 0
}

// This is the same case, but the new incarnation still loads its data when the request for the previous incarnation
// comes. It refuses the request (LOADING). Scripts after the request would come a moment later, in their own segments,
// when all data is loaded.
func TestScriptsOfTheIncarnationBeforeAreNotLoadedWhereANodeLoads(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3, redistest.Args("--key-load-delay", "100", "--loading-process-events-interval-bytes", "1024"))
	direct := s.urls
	long := func(c *holdfast.Config) { c.MaxTTL, c.TTL, c.Window = 10*time.Second, 10*time.Second, slowly }

	s.servers[2].MustDo(t, "EVAL", "for i = 1, 4000 do redis.call('SET', 'filler' .. i, string.rep('x', 100)) end", 0)
	b := s.ready(s.client(long)) // this client will want the lock, and is idle now
	wayOfA, _ := s.through(t)
	a := s.ready(s.client(long))
	s.servers[2].MustDo(t, "SAVE") // an AOF with everysec has the same effect

	wayOfA[1].BlackHole(true)
	l := lock(t, a, "x") // nodes 0 and 2 grant the lease

	wayOfC, _ := s.through(t)
	wayOfC[0].DelayRequests(slowly * 4 / 5)
	wayOfC[1].DelayRequests(slowly * 4 / 5)
	greeted, loaded, crossed := make(chan bool, 100), atomic.Int32{}, newCrossing(t, s.servers[2])
	wayOfC[2].Treat(func(c []string) redistest.Treatment {
		crossed.sees(c)
		switch {
		case strings.EqualFold(c[0], "EVAL"):
			greeted <- true
		case strings.EqualFold(c[0], "SCRIPT") && loaded.Add(1) == 1:
			return redistest.Treatment{Delay: 800 * time.Millisecond} // as a lost segment that is sent again
		}
		return redistest.Treatment{}
	})
	c := s.client(long, func(c *holdfast.Config) { c.NodeTimeout = 2 * time.Second })
	s.urls = direct
	looked := make(chan []verdict.Answer, 1)
	go func() { looked <- admin.Nodes(context.Background(), c) }()
	<-greeted
	time.Sleep(20 * time.Millisecond)
	began := time.Now()
	s.servers[2].Kill()
	crossed.over.Store(true)
	s.servers[2].RestartLoading()
	t.Logf("restarted in %s, loading", time.Since(began))
	for _, n := range <-looked {
		t.Logf("C: %+v", n)
	}
	t.Logf("%d requests came after the restart", crossed.requests.Load())
	if n := crossed.scripts.Load(); n > 0 {
		t.Errorf("%d scripts were sent behind a request that was refused", n)
	}
	time.Sleep(100 * time.Millisecond)

	second, err := b.Mutex("x").TryLock(t.Context())
	if err != nil {
		if !errors.Is(err, holdfast.ErrHeld) && !errors.Is(err, holdfast.ErrUnavailable) {
			t.Fatal(err)
		}
		t.Logf("B: %v", err)
		return
	}
	if l.Context().Err() == nil && time.Now().Before(l.Deadline()) {
		t.Errorf("two holders: A token %d, believed for another %s; B token %d", l.Fence(), time.Until(l.Deadline()), second.Fence())
	}
}
