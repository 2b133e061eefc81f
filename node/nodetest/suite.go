package nodetest

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

const (
	patience = 20 * time.Second       // longest wait for an event that must happen
	short    = 300 * time.Millisecond // deadline of a call that cannot succeed
	grace    = 2 * time.Second        // how much later such a call may return on a busy machine
)

// Open makes a node of the driver from a URL: redis:// with or without user, password and database, or unix://. It
// must not use the network. The suite closes the node.
type Open func(t *testing.T, url string) node.Node

// Run tests a driver. open makes nodes of this driver.
func Run(t *testing.T, open Open) { suite{open}.run(t, nil) }

func (s suite) run(t *testing.T, without []string) {
	// This test must run first and alone, because it counts the goroutines of the whole process.
	t.Run("CloseLeavesNoGoroutine", s.closeLeavesNoGoroutine)
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"EmptyBatchHasNoReplies", s.emptyBatchHasNoReplies},
		{"RepliesStandInTheOrderOfCalls", s.repliesStandInTheOrderOfCalls},
		{"RepliesBecomeText", s.repliesBecomeText},
		{"KeysAndArgsAreAnyBytes", s.keysAndArgsAreAnyBytes},
		{"EvalLoadsOthers", s.evalLoadsOthers},
		{"EvalLoadsWhereMemoryIsFull", s.evalLoadsWhereMemoryIsFull},
		{"EvalNamesTheBadLoad", s.evalNamesTheBadLoad},
		{"EvalLoadsNothingAfterAnError", s.evalLoadsNothingAfterAnError},
		{"EvalLoadsWhenItIsAnswered", s.evalLoadsWhenItIsAnswered},
		{"EvalLoadsWhereItWasAnswered", s.evalLoadsWhereItWasAnswered},
		{"ConcurrentCallsGetTheirOwnReplies", s.concurrentCallsGetTheirOwnReplies},
		{"MaxCallsAreSentAtOnce", s.maxCallsAreSentAtOnce},
		{"SocketAndDatabase", s.socketAndDatabase},
		{"SettingsAreToldWhereTheDriverCan", s.settingsAreTold},
		{"AnyCommandWhereTheDriverCan", s.anyCommand},
		{"AddrHasNoPassword", s.addrHasNoPassword},

		{"NOSCRIPT", s.noScript},
		{"READONLY", s.readOnly},
		{"LOADING", s.loading},
		{"OOM", s.oom},
		{"NOPERM", s.noPerm},
		{"WRONGTYPE", s.wrongType},
		{"BUSY", s.busy},
		{"PasswordIsChecked", s.passwordIsChecked},
		{"UnknownDatabaseIsRefused", s.unknownDatabaseIsRefused},
		{"IdentityIsProven", s.identityIsProven},
		{"LocalServerIsKnown", s.localServerIsKnown},

		{"RefusedConnectionIsUnsent", s.refusedConnectionIsUnsent},
		{"DialThatHangs", s.dialThatHangs},
		{"FrozenServer", s.frozenServer},
		{"FrozenFromTheFirstCall", s.frozenFromTheFirstCall},
		{"FrozenWhileMuchIsWritten", s.frozenWhileMuchIsWritten},
		{"FrozenUnderManyCalls", s.frozenUnderManyCalls},
		{"BlackHoleFromTheFirstCall", s.blackHoleFromTheFirstCall},
		{"HungConnectionIsReplaced", s.hungConnectionIsReplaced},
		{"KilledAndRestarted", s.killedAndRestarted},
		{"LostReplyIsNotRepeated", s.lostReplyIsNotRepeated},
		{"CancelledCallReturns", s.cancelledCallReturns},
		{"DeadContextSendsNothing", s.deadContextSendsNothing},
		{"ClosedNode", s.closedNode},

		{"HostileServers", s.hostileServers},
		{"AncientServer", s.ancientServer},

		{"ListenReceivesInOrder", s.listenReceivesInOrder},
		{"ListenShardHearsSpublish", s.listenShardHearsSpublish},
		{"ListenEndsWithItsContext", s.listenEndsWithItsContext},
		{"ListenLeavesNoConnection", s.listenLeavesNoConnection},
		{"ListenEndsWithTheServer", s.listenEndsWithTheServer},
		{"ListenEndsOnAHungConnection", s.listenEndsOnAHungConnection},
		{"ListenIsRefused", s.listenIsRefused},
		{"ListenEndsWithClose", s.listenEndsWithClose},
	} {
		if slices.Contains(without, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

type suite struct{ open Open }

// Server starts a redis-server for tests of a driver that are not in [Run]. It returns the server's URL. The server
// ends with the test.
func Server(t testing.TB) string {
	t.Helper()
	return redistest.Start(t).URL()
}

// node opens a node and closes it at the end of the test.
func (s suite) node(t *testing.T, url string) node.Node {
	t.Helper()
	n := s.open(t, url)
	t.Cleanup(n.Close)
	return n
}

func (s suite) start(t *testing.T, opts ...redistest.Option) (*redistest.Server, node.Node) {
	t.Helper()
	server := redistest.Start(t, opts...)
	return server, s.node(t, server.URL())
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// Scripts of this suite.
const (
	echo  = `return ARGV[1]`
	count = `return redis.call('INCR', KEYS[1])`
)

func call(script string, args ...string) node.Call {
	return node.Call{SHA: sha(script), Keys: []string{"k"}, Args: args}
}

// load loads the scripts into the server's script cache.
func load(t *testing.T, n node.Node, scripts ...string) {
	t.Helper()
	if r := n.Eval(within(t, patience), `return 'loaded'`, node.Call{}, scripts...); r.Err != nil || r.Value != "loaded" {
		t.Fatalf("load: %q, %v", r.Value, r.Err)
	}
}

// one makes a single call with the deadline patience.
func one(t *testing.T, n node.Node, c node.Call) node.Reply {
	t.Helper()
	return batch(t, within(t, patience), n, c)[0]
}

func batch(t *testing.T, ctx context.Context, n node.Node, calls ...node.Call) []node.Reply {
	t.Helper()
	replies := n.EvalSHA(ctx, calls)
	if len(replies) != len(calls) {
		t.Fatalf("%d replies to %d calls", len(replies), len(calls))
	}
	return replies
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if node.Code(err) != code {
		t.Errorf("%s: code %q, want %q: %v", what, node.Code(err), code, err)
	}
}

func (s suite) closeLeavesNoGoroutine(t *testing.T) {
	server := redistest.Start(t)
	before := runtime.NumGoroutine()
	n := s.open(t, server.URL())
	load(t, n, echo)
	listening := make(chan struct{})
	end := make(chan error, 1)
	go func() {
		end <- n.Listen(t.Context(), "c", func(string) { close(listening) })
	}()
	<-listening
	server.Freeze()
	n.EvalSHA(within(t, short), []node.Call{call(echo, "given up")})
	n.Close()
	server.Thaw()
	<-end
	redistest.Eventually(t, patience, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}
