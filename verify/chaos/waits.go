//go:build linux

package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/quantile"
)

const (
	// handOff is the time that one hand-off may take on a busy machine. A hand-off that is lost costs a second or more.
	handOff = 800 * time.Millisecond
	// claim is the time for which a node keeps the lock for a waiter that died after it was offered the lock.
	claim = time.Second
	// stall is the least time without a processor that excuses a wait. Of a dozen processes on a busy machine one is
	// always a little late.
	stall = 400 * time.Millisecond
)

// Waits are the waits for locks in a run with processes that only read and processes that only write.
type Waits struct {
	Writers, Readers quantile.Samples // from the wish to the lease
	First            quantile.Samples // of writers that came while nobody else waited
	// Beyond has the part of each writer's wait that came after the last lease for which the writer had to wait: see
	// [mustWait]. BesideDeath has the parts during which another waiter died. They may be longer, because the nodes may
	// have reserved the lock for that waiter.
	Beyond, BesideDeath quantile.Samples
	Late                []string // the waits in which that part is longer than one hand-off, and a claim for each death

	Deaths []death
	Freed  quantile.Samples
}

// waits fills in the waits and the deaths of readers.
func (a *arena) waits(r *Report, all []belief, wishes []wish) {
	writers, killed, stood := map[int]bool{}, map[int]int64{}, []span(nil)
	for _, p := range a.processes {
		writers[p.id], killed[p.id], stood = p.role.Readers == 0, p.killed, append(stood, p.stood...)
	}
	if a.plan.timed() { // otherwise faults make the servers slow
		stood = append(stood, a.slow...)
	}
	stood = union(slices.DeleteFunc(stood, func(s span) bool { return s.to-s.from < int64(stall) }))
	r.Waits = a.plan.waited(all, wishes, writers, killed, stood)
	r.Waits.Deaths = a.deaths
	for _, d := range a.deaths {
		if d.freed > 0 {
			r.Waits.Freed = append(r.Waits.Freed, d.freed)
		}
	}
	r.Waits.Freed = quantile.Of(r.Waits.Freed)
}

// waited returns the waits in a history. writers has the clients that only write. killed has the time at which each
// client was killed, 0 if it was not. stood has the long times in which a process got no processor. They excuse a wait,
// because a hand-off needs several processes.
func (p Plan) waited(all []belief, wishes []wish, writers map[int]bool, killed map[int]int64, stood []span) (w Waits) {
	names := byName(all)
	for name, list := range names {
		asked := slices.DeleteFunc(slices.Clone(wishes), func(s wish) bool { return s.name != name })
		for _, b := range list {
			if b.shared {
				w.Readers = append(w.Readers, time.Duration(b.from-b.wanted))
				continue
			}
			w.Writers = append(w.Writers, time.Duration(b.from-b.wanted))
			if !slices.ContainsFunc(asked, func(s wish) bool { return s.from < b.wanted && s.to > b.wanted }) {
				w.First = append(w.First, time.Duration(b.from-b.wanted))
			}
			if b.lease == 1 {
				continue // a new process greets the nodes first, and is in no queue
			}
			if b.asked != 0 {
				b.wanted = b.asked // a call that failed has lost its place in the queue
			}
			w.compare(p, b, list, asked, killed, stood)
		}
		for _, s := range asked { // a writer that never got the lock
			if !s.got && writers[s.client] {
				w.compare(p, belief{client: s.client, name: name, wanted: s.from, from: s.to}, list, asked, killed, stood)
			}
		}
	}
	for _, s := range []*quantile.Samples{&w.Writers, &w.Readers, &w.First, &w.Beyond, &w.BesideDeath} {
		*s = quantile.Of(*s)
	}
	slices.Sort(w.Late)
	return w
}

// compare compares the wait of a writer with the leases before its own. asked are the wishes for the name.
func (w *Waits) compare(p Plan, b belief, list []belief, asked []wish, killed map[int]int64, stood []span) {
	from := max(b.wanted, p.mustWait(b, list, killed))
	beyond, most := outside(min(from, b.from), b.from, stood), handOff
	for _, s := range asked {
		if !s.got && killed[s.client] != 0 && s.client != b.client && s.to >= b.wanted-int64(claim) && s.to < b.from {
			most += claim
		}
	}
	if most == handOff {
		w.Beyond = append(w.Beyond, beyond)
	} else {
		w.BesideDeath = append(w.BesideDeath, beyond)
	}
	if beyond > most {
		w.Late = append(w.Late, fmt.Sprintf("client %d waited %s for %s, %s of it after the leases before its own",
			b.client, time.Duration(b.from-b.wanted), b.name, beyond))
	}
}

// union returns the times that any of the spans covers, in order and without overlaps.
func union(spans []span) (list []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if n := len(list); n > 0 && s.from <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, s.to)
			continue
		}
		list = append(list, s)
	}
	return list
}

// mustWait returns the end of the last lease for which a writer had to wait. It had to wait for a lease in three cases:
// the lease began at most a window after the writer came, or its holder came at most a window after the writer, or its
// holder is a reader that joined such a lease in its first window. list is sorted by begin.
func (p Plan) mustWait(w belief, list []belief, killed map[int]int64) (end int64) {
	latest := w.wanted + int64(p.Window)
	began := map[int]belief{} // the last of these leases of readers, by client
	for _, b := range list {
		if b.from >= w.from {
			break
		}
		first, ok := began[b.client]
		joined := ok && b.shared && b.token == first.token && b.from <= first.from+int64(p.Window)
		if b.from > latest && b.wanted > latest && !joined {
			continue
		}
		if b.shared && !joined {
			began[b.client] = b
		}
		end = max(end, p.freed(b, killed[b.client]))
	}
	return end
}

// freed returns the latest time at which the nodes free the lease of a belief.
func (p Plan) freed(b belief, killed int64) int64 {
	const unlocks = 200 * time.Millisecond // a client that is killed may have been about to unlock
	switch {
	case killed != 0 && b.to > killed-int64(unlocks):
		return b.to + int64(p.quarantine())
	case b.lost:
		return b.to + int64(p.margin()+p.Window)
	}
	return b.to
}

// timed reports whether the run demands times: no fault changes the nodes, and no other work runs beside it.
func (p Plan) timed() bool { return !p.Untimed && slices.Equal(p.Kinds, []string{readerKilled}) }

// broken lists the promises about waits that did not hold.
func (w Waits) broken(p Plan) (list []string) {
	if !p.timed() {
		return nil
	}
	if len(w.Late) > 0 {
		list = append(list, fmt.Sprintf("%d writers waited longer than for the leases before their own and a hand-off of %s: %s", len(w.Late), handOff, some(w.Late)))
	}
	beside := 0
	for _, d := range w.Deaths {
		beside += d.renews
		if p.tooLate(d) {
			list = append(list, fmt.Sprintf("a killed reader was not freed within %s: %s", p.quarantine(), d))
		}
	}
	if len(w.Deaths) >= 10 && beside == 0 {
		list = append(list, "no reader was killed beside another one that renewed its lease")
	}
	return list
}

// tooLate reports whether a killed reader was not freed within TTL + W.
func (p Plan) tooLate(d death) bool { return d.freed > p.quarantine() }

// rows adds the waits to a table.
func (w Waits) rows(row func(what string, v any)) {
	add := func(what string, s quantile.Samples) {
		if len(s) > 0 {
			ms := func(p int) time.Duration { return s.Percentile(p).Round(time.Millisecond) }
			row(what, fmt.Sprintf("%d: %s, %s, %s, %s", len(s), ms(50), ms(90), ms(99), ms(100)))
		}
	}
	add("waits of writers: number, median, p90, p99, longest", w.Writers)
	add("of these, nobody else waited when they came", w.First)
	add("part of a writer's wait after the leases before its own", w.Beyond)
	add("the same part, of writers beside the death of another waiter", w.BesideDeath)
	if len(w.Beyond)+len(w.BesideDeath) > 0 {
		row("writers that waited too long", len(w.Late))
	}
	add("waits of readers", w.Readers)
	add("killed readers, until the last node freed them", w.Freed)
	for _, d := range slices.SortedFunc(slices.Values(w.Deaths), func(a, b death) int { return cmp.Compare(a.at, b.at) }) {
		row("killed", d)
	}
}
