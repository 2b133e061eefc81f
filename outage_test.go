package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// down is a node at whose address nothing listens.
type down struct{ node.Node }

func (down) EvalSHA(_ context.Context, calls []node.Call) []node.Reply {
	return nodemodel.Failed(calls, syscall.ECONNREFUSED)
}

func (down) Eval(context.Context, string, node.Call, ...string) node.Reply {
	return node.Reply{Err: syscall.ECONNREFUSED}
}

func (down) Listen(context.Context, string, func(string)) error { return syscall.ECONNREFUSED }

// A call that gives up in an outage names the option that makes it wait, once. Calls for which that option changes
// nothing do not name it.
func TestAnOutageNamesTheOptionThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testOutage)
}

func testOutage(t *testing.T) {
	c, err := holdfast.New(holdfast.Config{Nodes: []node.Node{down{nowhere(t, 1)[0]}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	second := func(_ any, err error) error { return err }
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for call, try := range map[string]struct {
		err   error
		named int
	}{
		"Lock":                 {second(c.Mutex("a").Lock(t.Context())), 1},
		"RLock":                {second(c.Mutex("b").RLock(t.Context())), 1},
		"Acquire":              {second(c.Semaphore("c", 2).Acquire(t.Context())), 1},
		"LockAll":              {second(c.LockAll(t.Context(), []string{"d", "e"})), 1},
		"TryLock":              {second(c.Mutex("f").TryLock(t.Context())), 0},
		"a short context":      {second(c.Mutex("g").Lock(short)), 0},
		"with the option":      {second(c.Mutex("h", holdfast.WaitThroughOutages()).Lock(short)), 0},
		"a look at the holder": {second(c.Status(t.Context(), "i")), 0},
	} {
		var un *holdfast.UnavailableError
		if try.named == 1 && !errors.As(try.err, &un) || strings.Count(try.err.Error(), "WaitThroughOutages") != try.named {
			t.Errorf("%s: %v", call, try.err)
		}
	}
}
