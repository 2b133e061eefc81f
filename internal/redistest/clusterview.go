package redistest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A view is what one server says about all servers of its cluster (CLUSTER NODES), in the order of their ids.
type view []member

// member is a line of a view.
type member struct {
	id     string
	self   bool   // the server that says this
	known  bool   // the handshake is over
	master string // the id of its master, "" if it is a master itself
	failed bool
	epoch  int64
	ranges [][2]int // the first and the last slot of each range
}

// parseView reads the reply of CLUSTER NODES. It leaves out what a server says about slots that move.
func parseView(text string) (v view) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		flags := strings.Split(f[2], ",")
		m := member{
			id: f[0], self: slices.Contains(flags, "myself"), failed: slices.Contains(flags, "fail"),
			known: !slices.Contains(flags, "handshake") && !slices.Contains(flags, "noaddr"),
		}
		if f[3] != "-" {
			m.master = f[3]
		}
		m.epoch, _ = strconv.ParseInt(f[6], 10, 64)
		for _, r := range f[8:] {
			if strings.HasPrefix(r, "[") {
				continue
			}
			first, last, isRange := strings.Cut(r, "-")
			if !isRange {
				last = first
			}
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err1 == nil && err2 == nil {
				m.ranges = append(m.ranges, [2]int{from, to})
			}
		}
		v = append(v, m)
	}
	slices.SortFunc(v, func(a, b member) int { return strings.Compare(a.id, b.id) })
	return v
}

// own returns the line of the server that has this view.
func (v view) own() (member, bool) {
	i := slices.IndexFunc(v, func(m member) bool { return m.self })
	if i < 0 {
		return member{}, false
	}
	return v[i], true
}

// roles returns a text with the master and the hash slots of each server. Views that agree have the same text.
func (v view) roles() string {
	var b strings.Builder
	for _, m := range v {
		fmt.Fprintln(&b, m.id, m.known, m.master, m.ranges)
	}
	return b.String()
}

// answerTime is the time that a server has to answer. A frozen server does not answer.
const answerTime = time.Second / 2

// views returns the view of each server that answers soon.
func (c *Cluster) views() map[*Server]view {
	views := map[*Server]view{}
	var mu sync.Mutex
	c.each(func(ctx context.Context, s *Server) {
		reply, _ := s.do(ctx, "CLUSTER", "NODES")
		if text, ok := reply.(string); ok {
			mu.Lock()
			defer mu.Unlock()
			views[s] = parseView(text)
		}
	})
	return views
}

// each calls f for all servers that are not killed, at the same time, and waits.
func (c *Cluster) each(f func(context.Context, *Server)) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range c.running() {
		wg.Go(func() { f(ctx, s) })
	}
	wg.Wait()
}

// AwaitSettled waits until the cluster is settled. It fails the test if that takes too long.
func (c *Cluster) AwaitSettled() {
	c.t.Helper()
	var why string
	defer func() {
		if why != "" {
			c.t.Logf("the cluster is not settled: %s\n%s", why, c.Log())
		}
	}()
	Eventually(c.t, 2*patience, "the cluster to settle", func() bool {
		why = c.unsettled()
		return why == ""
	})
}

// Settled reports whether all servers that are not killed answer and agree about the roles, whether each of them says
// cluster_state:ok and each replica is in sync, and whether each slot has a master that runs. A frozen server does not
// answer.
func (c *Cluster) Settled() bool { return c.unsettled() == "" }

// unsettled returns the reason why the cluster is not settled, "" if it is settled.
func (c *Cluster) unsettled() string {
	views, running := c.views(), c.running()
	roles, owned := "", 0
	for _, s := range running {
		own, ok := views[s].own()
		if !ok {
			return s.Addr() + " does not answer"
		}
		if r := views[s].roles(); roles == "" {
			roles = r
		} else if r != roles {
			return s.Addr() + " has another view of the roles"
		}
		for _, m := range views[s] {
			// A server that runs may still be called failed for a moment, and a replica of it then gets no vote.
			if m.failed && slices.ContainsFunc(running, func(r *Server) bool { return c.ID(r) == m.id }) {
				return s.Addr() + " believes that " + m.id + " has failed"
			}
		}
		if own.master == "" {
			for _, r := range own.ranges {
				owned += r[1] - r[0] + 1
			}
		}
	}
	if owned != Slots {
		return fmt.Sprintf("%d slots have a master that runs", owned)
	}
	var mu sync.Mutex
	why := ""
	c.each(func(ctx context.Context, s *Server) {
		reply, _ := s.do(ctx, "CLUSTER", "INFO")
		state, _ := reply.(string)
		ok := strings.Contains(state, "cluster_state:ok") && (s.Role() == "master" || s.info("master_link_status") == "up")
		if !ok {
			mu.Lock()
			defer mu.Unlock()
			why = s.Addr() + " is not ok, or not in sync"
		}
	})
	return why
}
