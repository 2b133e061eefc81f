//go:build linux

package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// readersAndWriters returns p with processes that only read and processes that only write.
func readersAndWriters(p Plan, readers, writers int) Plan {
	if p.OnlyRead == 0 {
		p.OnlyRead, p.OnlyWrite = readers, writers
	}
	p.Names = 2
	return p
}

// Processes that only read run beside processes that only write. Readers are killed, and no fault changes a node. So
// the test demands times: a writer waits for the leases before its own and one hand-off, and a killed reader is freed
// within TTL + W. A long run is followed by a run under every fault for half of the time, which does not demand these
// times. The short run of make test demands no times.
func TestReadersUnderFaults(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		turn(t)
		p := short(9 * time.Second)
		p.Every, p.Untimed = 2*time.Second, true // make test runs much else beside this
		if *flags.For > 0 {
			p = Plan{}
		}
		p = readersAndWriters(flags.Apply(p), 8, 4)
		p.Kinds = []string{readerKilled}
		r := Run(t, p)
		r.Publish(t, *flags.Report)
		r.Demand(t)
	})
	t.Run("within", func(t *testing.T) {
		if *flags.For == 0 {
			return // the short run of TestChaos has readers, too
		}
		turn(t)
		p := readersAndWriters(flags.Apply(Plan{}), 8, 4)
		p.For = *flags.For / 2
		r := Run(t, p)
		r.Publish(t, *flags.Report)
		r.Demand(t)
	})
}

// The judges must find a lock whose readers break a promise. Otherwise the runs above prove nothing.
func TestReadersThatBreakAPromiseAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Log("sampled: the judges of readers run on written histories only")
		return
	}
	t.Parallel()
	for locker, found := range map[string]func(*Report) bool{
		"beside":     func(r *Report) bool { return r.Overlaps > 0 },
		"overtaking": func(r *Report) bool { return len(r.Waits.Late) > 0 },
		"lingering":  func(r *Report) bool { return slices.ContainsFunc(r.Waits.Deaths, r.Plan.tooLate) },
	} {
		t.Run(locker, func(t *testing.T) {
			turn(t)
			p := readersAndWriters(short(9*time.Second), 8, 4)
			p.Locker, p.Kinds, p.Every, p.Keep = locker, []string{readerKilled}, time.Second, t.TempDir()
			r := Run(t, p)
			t.Log(r.Markdown())
			if !found(r) {
				t.Errorf("it was not found; %q", r.Broken())
			}
		})
	}
}

// beside lets readers in beside writers: their lock has another name.
type beside struct{ Locker }

func openBeside(r Role) (Locker, error) {
	l, err := openHoldfast(r)
	return beside{l}, err
}

func (b beside) Lock(ctx context.Context, name string) (Held, error) {
	if b.Locker.(*holdfastLocker).role.Readers == 100 {
		name += "-readers"
	}
	return b.Locker.Lock(ctx, name)
}

// overtaking lets readers overtake writers: a writer only tries, and is in no queue.
type overtaking struct{ *holdfastLocker }

func openOvertaking(r Role) (Locker, error) {
	l, err := openHoldfast(r)
	if err != nil {
		return nil, err
	}
	return overtaking{l.(*holdfastLocker)}, nil
}

func (o overtaking) Lock(ctx context.Context, name string) (Held, error) {
	if o.role.Readers == 100 {
		return o.holdfastLocker.Lock(ctx, name)
	}
	for {
		lease, err := o.client.Mutex(name).TryLock(ctx)
		if err == nil {
			return heldLease{lease, o.role.TTL}, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond) // as a program that polls
	}
}

// openLingering opens Holdfast with a TTL that is longer than the plan's. So a killed reader stays too long.
func openLingering(r Role) (Locker, error) {
	r.TTL *= 2
	return openHoldfast(r)
}

// A writer waits for the leases before its own. A lease that came later must not delay it, unless it joined a lease
// that came before.
func TestAWritersWaitIsComparedWithTheLeasesBeforeIt(t *testing.T) {
	const s = int64(time.Second)
	p := Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond}
	reader := func(client int, wanted, from, to, token int64) belief {
		return belief{client: client, name: "x", wanted: wanted, from: from, to: to, token: token, shared: true, noticed: to}
	}
	writer := belief{client: 9, name: "x", wanted: 10 * s, from: 20 * s, to: 21 * s, noticed: 21 * s}
	for what, c := range map[string]struct {
		before []belief
		killed map[int]int64
		want   int64
	}{
		"a reader was there":                     {[]belief{reader(1, 1, 9*s, 19*s, 1)}, nil, s},
		"it was there for a short time":          {[]belief{reader(1, 1, 9*s, 12*s, 1)}, nil, 8 * s},
		"a reader came later":                    {[]belief{reader(1, 1, 9*s, 12*s, 1), reader(2, 11*s, 11*s, 19*s, 2)}, nil, 8 * s},
		"it came within a window":                {[]belief{reader(1, 1, 9*s, 12*s, 1), reader(2, 10*s+s/10, 11*s, 19*s, 2)}, nil, s},
		"it joined a new lease":                  {[]belief{reader(1, 9*s, 12*s, 13*s, 1), reader(1, 11*s, 12*s+s/10, 19*s, 1)}, nil, s},
		"it joined a lease that was no more new": {[]belief{reader(1, 9*s, 12*s, 16*s, 1), reader(1, 11*s, 15*s, 19*s, 1)}, nil, 4 * s},
		"the reader was killed":                  {[]belief{reader(1, 1, 9*s, 17*s, 1)}, map[int]int64{1: 17 * s}, 3*s - 2200*s/1000},
		"it had been killed long before":         {[]belief{reader(1, 1, 9*s, 12*s, 1)}, map[int]int64{1: 12 * s}, 8*s - 2200*s/1000},
	} {
		wishes := []wish{}
		for _, b := range c.before {
			wishes = append(wishes, wish{b.client, "x", b.wanted, b.from, true})
		}
		w := p.waited(append(c.before, writer), wishes, nil, c.killed, nil)
		if len(w.Beyond) != 1 || int64(w.Beyond[0]) != c.want || len(w.Writers) != 1 || w.Writers[0] != 10*time.Second {
			t.Errorf("%s: waits %v, beyond %v, want %v", what, w.Writers, w.Beyond, time.Duration(c.want))
		}
		if late := len(w.Late) > 0; late != (c.want > int64(handOff)) {
			t.Errorf("%s: late: %v", what, w.Late)
		}
		if p.Kinds = []string{readerKilled}; len(w.broken(p)) > 0 != (len(w.Late) > 0) {
			t.Errorf("%s: broken: %q", what, w.broken(p))
		}
	}
	// A call that failed has lost its place in the queue. So the wait counts from the next call. The first call of a
	// process does not count, because a new process is in no queue yet.
	again := writer
	again.asked = 19*s + s/2
	if w := p.waited([]belief{again}, nil, nil, nil, nil); len(w.Beyond) != 1 || w.Beyond[0] != time.Second/2 {
		t.Errorf("after a failed call: %v", w.Beyond)
	}
	again.lease = 1
	if w := p.waited([]belief{again}, nil, nil, nil, nil); len(w.Beyond) != 0 || len(w.Writers) != 1 {
		t.Errorf("of a new process: %+v", w)
	}
	// A node may have reserved the lock for the waiter that was killed. So its death excuses a delay of one second.
	for to, late := range map[int64]bool{11*s + s/2: false, 12 * s: true} {
		writer.from = to
		w := p.waited([]belief{writer}, []wish{{3, "x", 5 * s, 11 * s, false}}, nil, map[int]int64{3: 11 * s}, nil)
		if len(w.BesideDeath) != 1 || len(w.Beyond) != 0 || len(w.Late) > 0 != late || len(w.First) != 0 {
			t.Errorf("beside a dead waiter: %+v", w)
		}
	}
}

// A writer that never gets the lock is found, too.
func TestAWriterThatReadersShutOutIsFound(t *testing.T) {
	const s = int64(time.Second)
	p := Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond}
	var readers []belief
	for i := range int64(10) {
		readers = append(readers, belief{client: 1 + int(i%2), name: "x", wanted: i * s, from: i * s, to: i*s + 3*s/2, token: i, shared: true, noticed: i*s + 3*s/2})
	}
	wishes := []wish{{9, "x", s + s/2, 10 * s, false}}
	if w := p.waited(readers, wishes, map[int]bool{9: true}, nil, nil); len(w.Late) != 1 || len(w.Writers) != 0 {
		t.Errorf("%+v", w)
	}
	if w := p.waited(readers, wishes, map[int]bool{}, nil, nil); len(w.Late) != 0 {
		t.Errorf("of a reader: %+v", w)
	}
}

// The times of several processes are counted once.
func TestTimesWithoutAProcessorAreCountedOnce(t *testing.T) {
	got := union([]span{{30, 40}, {1, 5}, {3, 4}, {5, 7}, {9, 10}, {35, 50}})
	if want := []span{{1, 7}, {9, 10}, {30, 50}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A killed reader that is not freed in time breaks a promise. So does a run without a renewal beside a dead reader.
func TestDeathsOfReadersAreJudged(t *testing.T) {
	p := Plan{TTL: 2 * time.Second, Window: 200 * time.Millisecond, Kinds: []string{readerKilled}}
	deaths := func(n int, d death) (list []death) {
		for range n {
			list = append(list, d)
		}
		return list
	}
	for what, c := range map[string]struct {
		deaths []death
		broken int
	}{
		"in time":          {deaths(10, death{freed: 2200 * time.Millisecond, others: 1, renews: 1}), 0},
		"too late":         {deaths(1, death{freed: 2201 * time.Millisecond}), 1},
		"gone at once":     {deaths(1, death{}), 0},
		"nobody renewed":   {deaths(10, death{freed: time.Second, others: 1}), 1},
		"a few, no renews": {deaths(9, death{freed: time.Second}), 0},
	} {
		if got := (Waits{Deaths: c.deaths}).broken(p); len(got) != c.broken {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// The flags for readers and writers choose the processes, and a bad value is an error that names it.
func TestModesOfClients(t *testing.T) {
	of := func(readers, clients, read, write int) Flags {
		return Flags{Readers: &readers, Clients: &clients, OnlyRead: &read, OnlyWrite: &write}
	}
	for _, f := range []Flags{of(101, 0, 0, 0), of(-2, 0, 0, 0), of(-1, 0, 8, 0), of(-1, 0, 0, 4), of(50, 0, 8, 4), of(-1, 12, 8, 4)} {
		if f.modes() == nil {
			t.Errorf("no error for %d, %d, %d, %d", *f.Readers, *f.Clients, *f.OnlyRead, *f.OnlyWrite)
		}
	}
	for _, f := range []Flags{of(-1, 0, 0, 0), of(0, 20, 0, 0), of(100, 0, 0, 0), of(-1, 0, 8, 4)} {
		if err := f.modes(); err != nil {
			t.Error(err)
		}
	}
	p := Plan{OnlyRead: 8, OnlyWrite: 4}.withDefaults()
	a := &arena{plan: p}
	got := ""
	for slot := range p.Clients {
		r := a.mode(Role{Readers: p.Readers, Loops: p.Loops}, slot)
		got += fmt.Sprintf("%d×%d ", r.Readers, r.Loops)
	}
	if want := "100×2 100×2 100×2 100×2 100×2 100×2 100×2 100×2 0×1 0×1 0×1 0×1 "; got != want {
		t.Errorf("roles %s, want %s", got, want)
	}
}
