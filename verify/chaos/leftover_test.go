//go:build linux

package chaos

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestWhatIsLeftBehindIsFound(t *testing.T) {
	t.Parallel()
	a := &arena{t: t, plan: Plan{Names: 2}, nodes: []*node{{server: redistest.Start(t)}}}
	s := a.nodes[0].server
	record := func(owner string, left time.Duration) string {
		now := time.Now().UnixMicro()
		return nodescript.Record{Seen: now, Token: now, Expiry: now + left.Microseconds(), Owner: owner}.String()
	}
	claim := nodescript.Record{Expiry: time.Now().Add(time.Minute).UnixMicro(), Owner: "somebody"}.String()
	queue := nodescript.RecordKey("lock-0") + ":queue"
	place := func(before time.Duration) string {
		return nodescript.NewOwner("client-0", "client", time.Now().Add(-before).UnixMicro(), []byte("random"))
	}
	a.healed = Monotonic() - int64(time.Second)
	for name, c := range map[string]struct {
		command []any
		ghosts  int
	}{
		"a plain key":                          {[]any{"SET", "lock-1", "somebody"}, 1},
		"a plain key of a name of one's own":   {[]any{"SET", "farewell-3-1", "client-3~x~y"}, 1},
		"a lease":                              {[]any{"SET", nodescript.RecordKey("lock-0"), record("somebody", time.Minute)}, 1},
		"a lease of a name of one's own":       {[]any{"SET", nodescript.RecordKey("farewell-3-1"), record("client-3~x~y", time.Minute)}, 1},
		"a claim":                              {[]any{"SET", nodescript.RecordKey("lock-0"), claim}, 1},
		"a lease that is over":                 {[]any{"SET", nodescript.RecordKey("lock-0"), record("somebody", -time.Second)}, 0},
		"a tombstone":                          {[]any{"SET", nodescript.RecordKey("lock-0"), record("", 0)}, 0},
		"what is not a record":                 {[]any{"SET", nodescript.RecordKey("lock-0"), "?"}, 1},
		"a record of another type":             {[]any{"HSET", nodescript.RecordKey("lock-0"), "x", "y"}, 1},
		"a place in a queue":                   {[]any{"ZADD", queue, 1, place(0)}, 1},
		"a place from before the faults ended": {[]any{"ZADD", queue, 1, place(time.Minute)}, 0},
		"a place without a ticket":             {[]any{"ZADD", queue, 1, "somebody"}, 1},
		"the guard":                            {[]any{"SET", nodescript.GuardKey, "x"}, 0},
		"what the node remembers of itself":    {[]any{"HSET", nodescript.AdmissionKey, "run", "x"}, 0},
	} {
		s.MustDo(t, "FLUSHALL")
		s.MustDo(t, c.command...)
		if got := a.ghosts(); len(got) != c.ghosts {
			t.Errorf("%s: found %q, want %d", name, got, c.ghosts)
		}
	}
}

// The search must find traces while they still last. A search after the end of every lease never finds them.
func TestWhatClientsLeaveIsFoundBeforeItIsOverByItself(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	p := Plan{Names: 1, TTL: 2 * time.Second, Window: time.Second}
	healed := Monotonic() - 10*second
	a := &arena{t: t, plan: p, healed: healed, nodes: []*node{{server: redistest.Start(t)}}, processes: []*process{
		{id: 0, idle: healed + 2*second},
		{id: 1}, // this client still runs
		{id: 2, killed: healed - second},
		{id: 3, idle: Monotonic()},
		{id: 4, role: Role{Misfit: fewer}},
	}}
	s, key := a.nodes[0].server, nodescript.RecordKey("lock-0")
	owner := func(label string, before time.Duration) string {
		return nodescript.NewOwner(label, "client", time.Now().Add(-before).UnixMicro(), []byte("random"))
	}
	record := func(label string, claim bool, left time.Duration) func() {
		now := time.Now()
		r := nodescript.Record{Seen: now.UnixMicro(), Token: now.UnixMicro(), Expiry: now.Add(left).UnixMicro(), Owner: owner(label, 0)}
		if claim {
			r.Token = 0
		}
		return func() { s.MustDo(t, "SET", key, r.String()) }
	}
	queued := func(label string, before time.Duration) func() {
		return func() { s.MustDo(t, "ZADD", key+":queue", 1, owner(label, before)) }
	}
	plain := func(label string) func() {
		return func() { s.MustDo(t, "SET", "lock-0", owner(label, 0), "PX", 1000) }
	}
	claimed := func(label string) func() {
		return func() {
			r := nodescript.Record{Expiry: time.Now().Add(time.Second).UnixMicro(), Owner: owner(label, 0)}
			s.MustDo(t, "SET", key, r.String())
			s.MustDo(t, "SET", "lock-0", r.Owner, "PX", 1000)
		}
	}
	expired := func(before time.Duration) func() {
		return func() {
			now := time.Now()
			r := nodescript.Record{Seen: now.UnixMicro(), Token: now.UnixMicro(), Expiry: now.Add(-before).UnixMicro(), Owner: owner("client-0", 0)}
			s.MustDo(t, "SET", key, r.String())
			s.MustDo(t, "SET", "lock-0", r.Owner, "PX", 1000)
		}
	}
	for name, c := range map[string]struct {
		leave func()
		want  int
	}{
		"a lease":                                        {record("client-0", false, time.Second), 1},
		"a lease that is over":                           {record("client-0", false, -time.Second), 0},
		"a claim":                                        {record("client-0", true, time.Second), 0},
		"a lease of a client that runs":                  {record("client-1", false, time.Second), 0},
		"a lease of one that was killed":                 {record("client-2", false, time.Second), 1},
		"a lease of one that ended just now":             {record("client-3", false, time.Second), 0},
		"a lease of one that was to be refused":          {record("client-4", false, time.Second), 1},
		"a lease of nobody":                              {record("somebody", false, time.Second), 1},
		"a plain key":                                    {plain("client-0"), 1},
		"a plain key of a client that runs":              {plain("client-1"), 0},
		"a plain key of one that ended just now":         {plain("client-3"), 0},
		"a plain key of nobody":                          {plain("somebody"), 1},
		"a claim with its plain key":                     {claimed("client-0"), 0},
		"a plain key of a lease that has just expired":   {expired(time.Millisecond), 0},
		"a plain key of a lease that expired long ago":   {expired(1300 * time.Millisecond), 1},
		"a place in the queue":                           {queued("client-0", 0), 1},
		"a place from before the faults ended":           {queued("client-0", time.Minute), 0},
		"a place of a client that runs":                  {queued("client-1", 0), 0},
		"a place of one that was killed, who is skipped": {queued("client-2", 0), 0},
	} {
		s.MustDo(t, "FLUSHALL")
		c.leave()
		l := a.newLook()
		l.since = healed
		l.all()
		if got := l.list(); len(got) != c.want {
			t.Errorf("%s: found %q, want %d", name, got, c.want)
		}
		l = a.newLook()
		l.since, l.stalled = healed, time.Minute
		if l.all(); len(l.list()) > 0 && c.want == 0 {
			t.Errorf("%s, on a machine that stood still: found %q", name, l.list())
		}
	}
}
