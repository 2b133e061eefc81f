package e2e

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/verdict"
)

// These tests spoil every subset of five nodes in turn, in several ways.

const (
	thief = "thief"
	// slowTTL is longer than the tests search for traces, so that no trace ends by itself before that.
	slowTTL = 10 * time.Second
	soon    = 5 * time.Second
)

// spoiling is a way to stop a node from granting.
type spoiling struct {
	name   string
	window time.Duration
	answer time.Duration // the node timeout
	groups int           // the masks are divided among this many sets, which run at the same time
	spoil  func(s *set, c *holdfast.Client, i int, name string)
	mend   func(s *set, c *holdfast.Client, which []int)
	fact   error
	says   string // the words of a spoiled node in the error
}

var spoilings = []spoiling{{
	name: "taken by a foreign key", window: window, answer: time.Second, groups: 1, fact: holdfast.ErrHeld,
	says: `held by a foreign key ("thief") for up to `,
	spoil: func(s *set, _ *holdfast.Client, i int, name string) {
		s.servers[i].MustDo(s.t, "SET", name, thief, "NX", "PX", 60_000)
	},
	mend: func(*set, *holdfast.Client, []int) {},
}, {
	name: "dead", window: window, answer: time.Second, groups: 4, fact: holdfast.ErrUnavailable, says: "connection refused",
	spoil: func(s *set, c *holdfast.Client, i int, _ string) {
		s.kill(s.servers[i])
		// The first call finds the connection lost. Only the next call is refused.
		redistest.Eventually(s.t, 5*time.Second, "the client to miss the node", func() bool {
			return admin.Nodes(s.t.Context(), c)[i].Reason == verdict.ReasonRefused
		})
	},
	mend: func(s *set, c *holdfast.Client, which []int) {
		s.each(which, func(srv *redistest.Server) { srv.Restart(); s.vouch(srv) })
		s.ready(c)
	},
}, {
	// The window is longer than the node timeout, so a node may grant a request from its frozen time after it thaws.
	name: "frozen", window: 1200 * time.Millisecond, answer: time.Second, groups: 2, fact: holdfast.ErrUnavailable, says: "timed out",
	spoil: func(s *set, _ *holdfast.Client, i int, _ string) { s.servers[i].Freeze() },
	mend: func(s *set, _ *holdfast.Client, which []int) {
		s.each(which, (*redistest.Server).Thaw)
	},
}}

func TestAcquiredExactlyWhenAMajorityIsFree(t *testing.T) {
	t.Parallel()
	for _, k := range spoilings {
		for g := range k.groups {
			t.Run(fmt.Sprintf("%s/%d of %d", k.name, g+1, k.groups), func(t *testing.T) {
				t.Parallel()
				s := newSet(t, 5)
				c := s.ready(s.client(func(c *holdfast.Config) {
					c.Window, c.MaxTTL, c.NodeTimeout = k.window, slowTTL, k.answer
				}))
				var names []string
				for i, mask := range k.masks() {
					if i%k.groups != g {
						continue
					}
					name := fmt.Sprintf("mask %05b", mask)
					names = append(names, name)
					k.try(s, c, name, mask)
				}
				// This second check comes after every late command has arrived.
				for _, name := range names {
					if left := s.ours(name); left != "" {
						t.Errorf("%s: at the end there is %s", name, left)
					}
				}
			})
		}
	}
}

// masks returns all subsets of five nodes. Servers that die or freeze take seconds, so a sample of the tests has only
// some subsets of them: no node, all nodes, and two or three neighbours, which just leave and just prevent a majority.
func (k spoiling) masks() (list []uint) {
	for mask := range uint(1 << 5) {
		if !testing.Short() || k.groups == 1 || mask == 0 || mask == 1<<5-1 {
			list = append(list, mask)
		}
	}
	if testing.Short() && k.groups > 1 {
		for _, neighbours := range []uint{0b11, 0b111} {
			for i := range 5 {
				list = append(list, (neighbours<<i|neighbours<<i>>5)&(1<<5-1))
			}
		}
	}
	return list
}

func (k spoiling) try(s *set, c *holdfast.Client, name string, mask uint) {
	t := s.t
	var spoiled []int
	for i := range s.servers {
		if mask>>i&1 == 1 {
			k.spoil(s, c, i, name)
			spoiled = append(spoiled, i)
		}
	}
	free := len(s.servers) - bits.OnesCount(mask)
	// On a busy machine a node may take longer than its timeout. A caller would try again, and so does the test.
	for start, try := time.Now(), 1; ; try++ {
		lease, err := c.Mutex(name).TryLock(t.Context())
		var wrong string
		switch {
		case free < 3 && err == nil:
			t.Errorf("%s: acquired with %d free nodes", name, free)
		case free < 3:
			wrong = k.explained(s, mask, err)
		case err != nil:
			wrong = fmt.Sprintf("%d nodes are free: %v", free, err)
		case lease.Unlock(t.Context()) != nil:
			t.Logf("%s: Unlock was not confirmed", name)
		}
		if wrong == "" {
			break
		}
		if t.Logf("%s: try %d: %s", name, try, wrong); time.Since(start) > 20*time.Second {
			t.Fail()
			break
		}
	}
	k.mend(s, c, spoiled)
	redistest.Eventually(t, soon, name+": nothing of ours left", func() bool { return s.ours(name) == "" })
	for _, i := range spoiled {
		if k.fact == holdfast.ErrHeld && s.plain(i, name) != thief {
			t.Errorf("%s: node %d: the foreign key is now %q", name, i, s.plain(i, name))
		}
	}
}

// explained returns what is wrong with an error, "" if the error gives the right answer of each node. The error comes
// as soon as no majority is possible: when three nodes have refused. The other nodes may not have answered yet.
func (k spoiling) explained(s *set, mask uint, err error) string {
	var nodes []verdict.Answer
	var held *holdfast.HeldError
	var none *holdfast.UnavailableError
	if !errors.Is(err, k.fact) || errors.Is(err, holdfast.ErrHeld) && errors.Is(err, holdfast.ErrUnavailable) {
		return fmt.Sprintf("%v; want %v", err, k.fact)
	}
	switch {
	case errors.As(err, &held):
		nodes = held.Nodes
		if !held.Holder().Foreign || held.Holder().Owner != thief || held.ExpiresIn <= 0 || held.ExpiresIn > time.Minute {
			return fmt.Sprintf("does not describe the thief: %+v", held)
		}
	case errors.As(err, &none):
		nodes = none.Nodes
	}
	if len(nodes) != len(s.servers) {
		return fmt.Sprintf("%v: answers of %d nodes; want %d", err, len(nodes), len(s.servers))
	}
	told := 0
	for i, n := range nodes {
		want := "granted"
		if mask>>i&1 == 1 {
			want = k.says
		}
		switch {
		case n.Node != "redis://"+s.servers[i].Addr()+"/0":
			return fmt.Sprintf("answer %d is of %s", i, n.Node)
		case strings.HasPrefix(n.Said(), want):
			told++
		case n.Reason != verdict.ReasonUnanswered:
			return fmt.Sprintf("node %d said %q; want %q", i, n.Said(), want)
		}
		if none != nil && !strings.Contains(err.Error(), n.String()) {
			return fmt.Sprintf("%v: does not contain %q", err, n)
		}
	}
	if told < 3 {
		return fmt.Sprintf("only %d nodes told: %v", told, nodes)
	}
	return ""
}

// ours describes the traces of a Holdfast lock on the nodes. It returns "" if there are no traces.
func (s *set) ours(name string) string {
	s.t.Helper()
	for i := range s.n() {
		if r, ok := s.record(i, name); ok && r.Owner != "" {
			return fmt.Sprintf("a record of %s on node %d", r.Owner, i)
		}
		if v := s.plain(i, name); v != "" && v != thief {
			return fmt.Sprintf("a plain key of %s on node %d", v, i)
		}
	}
	return ""
}
