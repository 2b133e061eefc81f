package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// await waits until ok, at most until ctx ends.
func await(ctx context.Context, what string, ok func() bool) error {
	for !ok() {
		select {
		case <-ctx.Done():
			return errors.New("in vain: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// begun runs take on its own goroutine.
func begun(ctx context.Context, take func(context.Context) (*holdfast.Lease, error)) func() (*holdfast.Lease, error) {
	var l *holdfast.Lease
	done := make(chan error, 1)
	go func() {
		var err error
		l, err = take(ctx)
		done <- err
	}()
	return func() (*holdfast.Lease, error) { err := <-done; return l, err }
}

// works has the work of each role. It ends soon after ctx.
var works = map[rights.Role]func(ctx context.Context, w *ward) error{
	rights.Locker: lockers, rights.Observer: observers, rights.Operator: operators, rights.Admission: admissions,
}

// lockers takes locks of all kinds, with waiters, on both drivers.
func lockers(ctx context.Context, w *ward) error {
	a, b, c, d := w.client(false), w.client(true), w.client(false), w.client(false)
	queued := func(name string, n int64) error {
		return await(ctx, "a queue of "+name, func() bool { return w.in("ZCARD", nodescript.QueueKey(nodescript.RecordKey(name))) == n })
	}
	var all []error
	fails := func(what string, err error) bool {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", what, err))
		}
		return err != nil
	}
	run := func(f func()) { f() }
	run(func() { // a lock with waiters of both drivers: a hand-off, a pass in a queue, a renewal, the listeners' pings
		l, err := a.Mutex("a/x").Lock(ctx)
		if fails("lock", err) {
			return
		}
		first := begun(ctx, b.Mutex("a/x").Lock)
		fails("wait", queued("a/x", 1))
		second := begun(ctx, c.Mutex("a/x").RLock)
		fails("wait", queued("a/x", 2))
		third := begun(ctx, d.Mutex("a/x").Lock)
		fails("wait", queued("a/x", 3))
		<-time.After(1300 * time.Millisecond)
		fails("extend", l.Extend(ctx, settings().MaxTTL))
		fails("unlock", l.Unlock(ctx))
		for _, next := range []func() (*holdfast.Lease, error){first, second, third} {
			l, err := next()
			if fails("hand-off", err) {
				return
			}
			fails("unlock", l.Unlock(ctx))
		}
	})
	run(func() { // a lock whose hash slot moves while somebody waits for it
		if w.cluster == nil {
			return
		}
		l, err := a.Mutex("a/moved").Lock(ctx)
		if fails("lock", err) {
			return
		}
		next := begun(ctx, b.Mutex("a/moved").Lock)
		fails("wait", queued("a/moved", 1))
		fails("move", w.move(ctx, "a/moved"))
		fails("extend", l.Extend(ctx, settings().MaxTTL))
		fails("unlock", l.Unlock(ctx))
		if l, err := next(); !fails("hand-off", err) {
			fails("unlock", l.Unlock(ctx))
		}
	})
	run(func() { // readers beside each other, and a writer that gives way
		l, err := b.Mutex("a/shared").Lock(ctx)
		if fails("lock", err) {
			return
		}
		reader := begun(ctx, a.Mutex("a/shared").RLock)
		fails("wait", queued("a/shared", 1))
		writer := begun(ctx, c.Mutex("a/shared").Lock)
		fails("wait", queued("a/shared", 2))
		fails("downgrade", l.Downgrade(ctx))
		r, err := reader()
		if !fails("read", err) {
			fails("unlock", r.Unlock(ctx))
		}
		if joined, err := b.Mutex("a/shared").TryRLock(ctx); err == nil { // a writer waits, so it may be refused
			fails("unlock", joined.Unlock(ctx))
		}
		fails("unlock", l.Unlock(ctx))
		if w, err := writer(); !fails("write", err) {
			fails("unlock", w.UnlockAt(ctx, time.Now().Add(time.Second)))
		}
	})
	run(func() { // a reader alone
		l, err := a.Mutex("a/read").RLock(ctx)
		if !fails("read", err) {
			fails("unlock", l.Unlock(ctx))
		}
	})
	run(func() { // a semaphore whose slots are taken
		var held []*holdfast.Lease
		for range 2 {
			l, err := a.Semaphore("a/slots", 2).Acquire(ctx)
			if fails("acquire", err) {
				return
			}
			held = append(held, l)
		}
		waiter := begun(ctx, b.Semaphore("a/slots", 2).Acquire)
		fails("wait", await(ctx, "a waiter for a slot", func() bool { return w.in("ZCARD", nodescript.SlotsQueueKey("a/slots")) != int64(0) }))
		short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		_, _ = a.Semaphore("a/slots", 2).Acquire(short)
		cancel()
		_, err := a.Semaphore("a/slots", 2).TryAcquire(ctx)
		if !errors.Is(err, holdfast.ErrHeld) {
			fails("try", err)
		}
		fails("unlock", held[1].Unlock(ctx))
		if l, err := waiter(); !fails("slot", err) {
			fails("unlock", l.Unlock(ctx))
		}
		fails("unlock", held[0].Unlock(ctx))
	})
	run(func() { // a value
		l, err := a.Mutex("a/valued").Lock(ctx)
		if fails("lock", err) {
			return
		}
		fails("store", l.Store(ctx, []byte("v")))
		_, err = l.Load(ctx)
		fails("load", err)
		fails("unlock", l.Unlock(ctx))
		_, err = b.Value(ctx, "a/valued")
		fails("value", err)
		_, err = b.Status(ctx, "a/shared")
		fails("status", err)
		w.in("SET", "a/foreign", "somebody")
		_, err = b.Status(ctx, "a/foreign")
		fails("status", err)
	})
	return errors.Join(all...)
}

// observers looks at locks that another user holds.
func observers(ctx context.Context, w *ward) error {
	var all []error
	for _, goRedis := range []bool{false, true} {
		c := w.client(goRedis)
		s, err := c.Status(ctx, "a/x")
		all = append(all, err)
		if err == nil && !s.Held {
			all = append(all, errors.New("x is not held"))
		}
		_, err = c.Semaphore("a/slots", 2).Status(ctx)
		all = append(all, err)
		n := 0
		for _, err := range admin.List(ctx, c, admin.ListOptions{Free: true}) {
			n++
			all = append(all, err)
		}
		if n < 3 {
			all = append(all, fmt.Errorf("listed %d names", n))
		}
		_, err = admin.NamesWithValue(ctx, c)
		all = append(all, err)
		_, err = c.Value(ctx, "a/x")
		all = append(all, err)
		_, err = election.New(c, "a/x").Leader(ctx)
		all = append(all, err)
	}
	return errors.Join(append(all, w.pinged(ctx))...)
}

// operators takes locks away, and vouches for the node.
func operators(ctx context.Context, w *ward) error {
	var all []error
	c := w.client(false)
	for _, name := range []string{"a/x", "a/read", "a/shared", "a/alone"} {
		_, err := admin.Unlock(ctx, c, name, admin.UnlockOptions{})
		all = append(all, err)
	}
	_, err := admin.Unlock(ctx, c, "a/slots", admin.UnlockOptions{Slots: 2})
	options := []string{"doctor", "--json", "--nodes", w.url(), "--window", window.String(), "--only"}
	if w.cluster == nil {
		options = append(options, "acl,latency,persistence", "--durable")
	} else {
		options = append(options, "acl,latency,replication,cluster,moves", "--max-ttl", settings().MaxTTL.String(), "--cluster", settings().Cluster)
	}
	doctor := exec.CommandContext(ctx, command(w.t), options...)
	said, _ := doctor.CombinedOutput() // its exit code counts warnings
	if !strings.Contains(string(said), "latency") || strings.Contains(string(said), "not known") {
		all = append(all, fmt.Errorf("doctor says %s", said))
	}
	return errors.Join(append(all, err, observers(ctx, w), admissions(ctx, w))...)
}

// admissions asks for the vote of a node that has lost its memory, and vouches for it.
func admissions(ctx context.Context, w *ward) error {
	if w.cluster != nil {
		return errors.Join(w.emptied(ctx, w.client(false), w.client(true)), w.pinged(ctx))
	}
	w.in("FLUSHDB")
	a, b := w.client(false), w.client(true)
	for _, n := range admin.Trust(ctx, a) {
		if n.Err != nil {
			return n.Err
		}
	}
	return errors.Join(
		await(ctx, "the vote", func() bool { return admin.Nodes(ctx, a)[0].Votes() && admin.Nodes(ctx, b)[0].Votes() }),
		w.pinged(ctx),
	)
}

// pinged waits until a connection of the user that is idle has sent a ping.
func (w *ward) pinged(ctx context.Context) error {
	return await(ctx, "a ping", func() bool {
		return slices.ContainsFunc(w.servers(), func(s *redistest.Server) bool {
			for line := range strings.Lines(s.MustDo(w.t, "CLIENT", "LIST").(string)) {
				if strings.Contains(line, " user="+w.user+" ") && strings.Contains(line, " cmd=ping ") {
					return true
				}
			}
			return false
		})
	})
}

// held makes the locks of another user: a lock with waiters, a shared lock, a semaphore, and a value.
func (w *ward) held(ctx context.Context) {
	w.t.Helper()
	others := &ward{t: w.t, server: w.server, cluster: w.cluster, user: "holder"}
	others.grants([]string{"~*", "&*", "+@all"})
	a, b := others.client(false), others.client(false)
	store(w.t, lock(w.t, a, "a/x"), "v")
	lock(w.t, a, "a/read")
	readLock(w.t, a, "a/shared")
	readLock(w.t, a, "a/alone")
	for range 2 {
		if _, err := a.Semaphore("a/slots", 2).Acquire(ctx); err != nil {
			w.t.Fatal(err)
		}
	}
	go b.Mutex("a/x").Lock(ctx)
	go b.Mutex("a/read").RLock(ctx)
	go b.Mutex("a/shared").Lock(ctx)
	go b.Semaphore("a/slots", 2).Acquire(ctx)
	queues := []string{nodescript.SlotsQueueKey("a/slots")}
	for _, name := range []string{"a/x", "a/read", "a/shared"} {
		queues = append(queues, nodescript.QueueKey(nodescript.RecordKey(name)))
	}
	for _, queue := range queues {
		redistest.Eventually(w.t, 30*time.Second, "a waiter", func() bool { return w.in("ZCARD", queue) == int64(1) })
	}
}

// prefix begins all names of the works.
const prefix = "a/"

// tries gives the user these rights, and lets it do the work of the role. It returns why the work failed, or what the
// server refused. The work ends with the first refusal.
func tries(t testing.TB, role rights.Role, list []string) (*ward, error) {
	w := newWard(t)
	return w, w.tries(t.Context(), role, list)
}

// tries does the work of tries on this ward.
func (w *ward) tries(parent context.Context, role rights.Role, list []string) error {
	ctx, cancel := context.WithTimeout(parent, 30*time.Second)
	defer cancel()
	if role == rights.Observer || role == rights.Operator {
		w.held(parent)
	}
	w.grants(list)
	done := make(chan error, 1)
	go func() { done <- works[role](ctx, w) }()
	for {
		select {
		case err := <-done:
			if refused := w.refusals(); len(refused) > 0 {
				err = errors.Join(errors.New("the server refused: "+strings.Join(refused, ", ")), err)
			}
			return err
		case <-time.After(50 * time.Millisecond):
			if len(w.refusals()) > 0 {
				cancel()
			}
		}
	}
}

var eachRole = []rights.Role{rights.Locker, rights.Observer, rights.Operator, rights.Admission}

// durably declares the node set durable.
func durably(c *holdfast.Config) { c.Durable = true }

// The rights of a role are enough for its work: the server refuses nothing.
func TestTheRightsOfARoleAreEnough(t *testing.T) {
	t.Parallel()
	for _, role := range eachRole {
		t.Run(role.String(), func(t *testing.T) {
			t.Parallel()
			for _, prefixes := range [][]string{nil, {prefix}} {
				if _, err := tries(t, role, rights.User{Roles: role, Prefixes: prefixes}.Grants()); err != nil {
					t.Errorf("with the prefixes %q: %v", prefixes, err)
				}
			}
		})
	}
}

// No right of a role is more than it needs: without any of them the server refuses a part of the work.
func TestEveryRightIsNeeded(t *testing.T) {
	t.Parallel()
	for _, role := range eachRole {
		t.Run(role.String(), func(t *testing.T) {
			t.Parallel()
			grants := rights.User{Roles: role, Prefixes: []string{prefix}}.Grants()
			for i, right := range grants {
				if testing.Short() && (i+int(role))%3 != 0 {
					continue
				}
				t.Run(right, func(t *testing.T) {
					t.Parallel()
					if _, err := tries(t, role, slices.Delete(slices.Clone(grants), i, i+1)); err == nil {
						t.Errorf("the work of the role %s needs no %s", role, right)
					}
				})
			}
		})
	}
}

// A client of a durable set reads its settings: see rights.User.Durable.
func TestADurableSetNeedsOneMoreRight(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{false, true} {
		w := newWard(t)
		w.grants(rights.User{Roles: rights.Locker, Durable: durable}.Grants())
		if _, err := w.client(false, durably).Mutex("x").TryLock(t.Context()); err != nil {
			t.Error(err)
		}
		if refused := w.refusals(); (len(refused) == 0) != durable {
			t.Errorf("with the right %v the server refused %q", durable, refused)
		}
	}
}

// A locker of a node that waits for its replicas sends WAIT: see rights.User.Confirmed. Without the right nobody gets a
// lock.
func TestANodeThatWaitsForReplicasNeedsOneMoreRight(t *testing.T) {
	t.Parallel()
	replica := redistest.Start(t)
	w := newWard(t)
	w.confirmed = true
	w.server.MustDo(t, "CONFIG", "SET", "repl-diskless-sync-delay", 0)
	follow(t, replica, w.server)
	for _, confirmed := range []bool{false, true} {
		w.grants(rights.User{Roles: rights.Locker, Confirmed: confirmed}.Grants())
		for _, goRedis := range []bool{false, true} {
			c := w.client(goRedis)
			err := c.Mutex("x").Do(t.Context(), func(context.Context) error { return nil })
			if (err == nil) != confirmed || err != nil && !strings.Contains(err.Error(), "WAIT") {
				t.Errorf("with the right %t, by go-redis %t: %v", confirmed, goRedis, err)
			}
		}
		if refused := w.refusals(); (len(refused) == 0) != confirmed {
			t.Errorf("with the right %t the server refused %q", confirmed, refused)
		}
	}
}
