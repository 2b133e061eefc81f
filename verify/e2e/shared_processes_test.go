package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// loop is the work of a process that takes a lock again and again. It holds it for a few milliseconds, and says when it
// had it, by the clock of the machine.
func loop(ctx context.Context, take func(context.Context) (*holdfast.Lease, error), rounds int, say func(string, ...any)) int {
	for range rounds {
		l, err := take(ctx)
		if err != nil {
			say("error %v", err)
			return 1
		}
		began := time.Now().UnixNano()
		<-time.After(3 * time.Millisecond)
		ended := time.Now().UnixNano()
		if l.Context().Err() != nil {
			say("error the lease ended by itself: %v", context.Cause(l.Context()))
			return 1
		}
		say("held %v %d %d %d", l.Shared(), l.Fence(), began, ended)
		if err := l.Unlock(context.Background()); err != nil {
			say("error %v", err)
			return 1
		}
	}
	say("finished")
	return 0
}

// tenure is the time for which a process had a lock.
type tenure struct {
	shared              bool
	fence, began, ended int64
}

// tenures returns what a process said of its turns.
func (p *process) tenures() (all []tenure) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.said {
		if rest, ok := strings.CutPrefix(s.text, "held "); ok {
			var one tenure
			if _, err := fmt.Sscan(rest, &one.shared, &one.fence, &one.began, &one.ended); err != nil {
				p.t.Fatalf("%q: %v", rest, err)
			}
			all = append(all, one)
		}
	}
	return all
}

// judgeTenures checks that no writer had the lock beside anybody, and that a writer's token is above all before it and
// below all after it. It returns the number of readers that began beside another one.
func judgeTenures(t *testing.T, all []tenure) (beside int) {
	t.Helper()
	slices.SortFunc(all, func(a, b tenure) int { return int(a.began - b.began) })
	var latest [2]tenure // the one of the readers, and of the writers, that ends last
	var highest [2]int64
	of := func(shared bool) int {
		if shared {
			return 0
		}
		return 1
	}
	for _, one := range all {
		for _, shared := range []bool{true, false} {
			other := latest[of(shared)]
			switch {
			case other.ended <= one.began:
			case shared && one.shared:
				beside++
			default:
				t.Errorf("%+v has the lock beside %+v", one, other)
			}
		}
		if one.fence <= highest[1] || !one.shared && one.fence <= highest[0] {
			t.Errorf("%+v follows readers with tokens up to %d and writers up to %d", one, highest[0], highest[1])
		}
		i := of(one.shared)
		highest[i] = max(highest[i], one.fence)
		if one.ended > latest[i].ended {
			latest[i] = one
		}
	}
	return beside
}

// Eight processes read and four write, again and again.
func TestProcessesReadAndWrite(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprint(n, " nodes"), func(t *testing.T) {
			t.Parallel()
			const readers, writers = 8, 4
			rounds := inShort(100, 25)
			s := newSet(t, n)
			s.ready(s.client(patient))
			var all []*process
			for i := range readers + writers {
				all = append(all, s.waiter("-rounds", fmt.Sprint(rounds), fmt.Sprintf("-shared=%v", i < readers)))
			}
			for _, p := range all {
				p.until(60*time.Second, "ready")
			}
			for _, p := range all {
				p.tell()
			}
			var turns []tenure
			for _, p := range all {
				p.until(120*time.Second, "finished")
				turns = append(turns, p.tenures()...)
			}
			if len(turns) != len(all)*rounds {
				t.Errorf("%d turns of %d", len(turns), len(all)*rounds)
			}
			if judgeTenures(t, turns) == 0 {
				t.Error("no two readers had the lock together")
			}
		})
	}
}

// A reader that dies keeps writers out until its TTL ends, whatever other readers do.
func TestAKilledReader(t *testing.T) {
	t.Parallel()
	s := newSet(t, 3)
	c, w := s.ready(s.client(patient)), s.ready(s.client(patient))
	const ttl = 2 * time.Second
	dead := s.waiter("-shared", "-keep", "-ttl", ttl.String())
	dead.until(60*time.Second, "ready")
	dead.tell()
	dead.until(60*time.Second, "got")
	other := readLock(t, c, "x", holdfast.WithTTL(ttl))
	writer := eventually(t, w.Mutex("x").Lock)
	s.inLine("x", 1)
	dead.Signal(syscall.SIGKILL)
	killed := time.Now()
	// The other reader renews its lease beside the dead one.
	first := other.Deadline()
	redistest.Eventually(t, 20*time.Second, "renewals", func() bool { return other.Deadline().After(first.Add(ttl / 2)) })
	if other.Context().Err() != nil {
		t.Fatalf("the other reader lost the lock: %v", context.Cause(other.Context()))
	}
	select {
	case l := <-writer:
		t.Fatalf("%v beside a reader", l)
	default:
	}
	unlock(t, other)
	unlock(t, comes(t, writer, "the writer"))
	// The writer waits for the TTL of the dead reader, the window, and its own next question. A busy machine adds some
	// time.
	if took, most := time.Since(killed), 2*ttl+window+3*time.Second; took > most {
		t.Errorf("a writer got the lock %s after a reader was killed", took)
	}
}
