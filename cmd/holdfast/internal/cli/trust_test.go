package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
	"github.com/holdfast-go/holdfast/verdict"
)

// Nodes restart empty while an operator thinks. Trust must not vouch for nodes that were not in the question.
func TestTrustAsksAgainIfAnotherNodeRestartsMeanwhile(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	nodes, err := rueidisnode.Open(servers[0].URL(), servers[1].URL(), servers[2].URL())
	if err != nil {
		t.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: 10 * time.Minute, Window: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var said bytes.Buffer
	a := &app{talker: &talker{out: &said}}
	if err := a.vouch(&said, client, nil); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	servers[0].Restart()
	var asked []int
	err = a.vouch(&said, client, func(n int) bool {
		asked = append(asked, n)
		if len(asked) == 1 {
			servers[1].Restart()
		}
		return len(asked) == 1 // the nodes of the first question, not those of the second
	})
	if code := asFailure(err).code; len(asked) != 2 || asked[0] != 1 || asked[1] != 2 || code != exitDeclined {
		t.Errorf("asked about %v nodes, then exit %d (%v); want 1, then 2, then %d\n%s", asked, code, err, exitDeclined, &said)
	}
	for i, n := range admin.Nodes(context.Background(), client) {
		if n.Votes() != (i == 2) {
			t.Errorf("node %s", n)
		}
	}
}

// While the operator thinks, the nodes begin to vote, a client takes a lock, and the nodes lose their memory again
// without a restart. The answer to the first question does not cover that lock.
func TestTrustAsksAgainAfterAnotherLoss(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	open := func() *holdfast.Client {
		nodes, err := rueidisnode.Open(servers[0].URL(), servers[1].URL(), servers[2].URL())
		if err != nil {
			t.Fatal(err)
		}
		c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: 10 * time.Minute, Window: 400 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	vouch := func(c *holdfast.Client, ask func(int) bool) (said string, err error) {
		var b bytes.Buffer
		err = (&app{talker: &talker{out: &b}}).vouch(&b, c, ask)
		return b.String(), err
	}
	flush := func() {
		for _, srv := range servers {
			srv.MustDo(t, "FLUSHALL")
		}
	}
	operator, other, holder := open(), open(), open()
	if said, err := vouch(operator, nil); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	flush()
	var held *holdfast.Lease
	meanwhile := func() {
		if said, err := vouch(other, nil); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var err error
		if held, err = holder.Mutex("x").Lock(ctx); err != nil {
			t.Fatal(err)
		}
		flush()
	}
	seen := admin.Nodes(t.Context(), operator)
	asked := 0
	said, err := vouch(operator, func(int) bool {
		if asked++; asked == 1 {
			meanwhile()
			return true
		}
		return false
	})
	var f *failure
	if asked != 2 || !errors.As(err, &f) || f.code != exitDeclined || !strings.Contains(said, "need a voucher now") {
		t.Errorf("asked %d times: %v\n%s", asked, err, said)
	}
	// Like the command, the library refuses to vouch for a loss that its caller has not seen.
	for _, n := range admin.Trust(t.Context(), operator, seen...) {
		if n.Reason != verdict.ReasonVoidVoucher {
			t.Errorf("%s", n)
		}
	}
	if l, err := other.Mutex("x").TryLock(t.Context()); err == nil && held.Context().Err() == nil {
		t.Errorf("two holders: %v and %v", held, l)
	}
}

// While the operator thinks, a client with the settings of the nodes takes a lock.
func TestTrustAsksAgainAfterALock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var said bytes.Buffer
	a := &app{talker: &talker{out: &said}}
	open := func(maxTTL time.Duration) *holdfast.Client {
		nodes, err := rueidisnode.Open(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		c, err := holdfast.New(holdfast.Config{Nodes: nodes, MaxTTL: maxTTL, Window: 400 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	users, operators := open(time.Minute), open(2*time.Minute)
	if err := a.vouch(&said, users, nil); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	asked := 0
	err := a.vouch(&said, operators, func(int) bool {
		if asked++; asked == 1 {
			if _, err := users.Mutex("late").TryLock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return asked == 1
	})
	a.lines.Wait(time.Minute)
	if code := asFailure(err).code; asked != 2 || code != exitDeclined || !strings.Contains(said.String(), `lock "late" is alive`) {
		t.Errorf("asked %d times, then exit %d (%v); want 2, and the lock named\n%s", asked, code, err, &said)
	}
}
