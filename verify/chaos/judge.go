//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// judge fills in the results from the clients' events and the resources.
func (a *arena) judge(r *Report, ended int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Length = time.Duration(ended - a.began)
	a.happened(r)
	var all []belief
	var wishes []wish
	frozen, still := map[int][]span{}, map[int][]span{}
	for _, p := range a.processes {
		p.mu.Lock()
		for _, e := range p.events {
			for what, n := range e.Notes {
				r.Refusals[what] += n
			}
			switch {
			case e.What == fault:
				a.t.Errorf("client %d: %s", p.id, e.Name)
			case p.role.Misfit != "" && e.What == has:
				r.MisfitsGranted[e.Name]++
			case p.role.Misfit != "" && e.What == tried:
				r.MisfitsRefused[e.Name]++
			case e.What == unsure:
				r.MisfitsUnsure[e.Name]++
			case e.What == stops:
				r.Stopped++
			}
		}
		frozen[p.id], still[p.id] = p.frozen, slices.Concat(p.frozen, p.stood)
		p.mu.Unlock()
		if p.role.Misfit == "" {
			b, w := p.beliefs(ended)
			for i := range b {
				b[i].busy = p.role.Busy > 0
			}
			if all = append(all, b...); p.role.Busy == 0 { // a busy client keeps itself waiting
				wishes = append(wishes, w...)
			}
		}
	}
	var hungriest wish
	r.LongestWait, hungriest, r.MedianWait = a.starvation(wishes, frozen)
	r.Hungriest = fmt.Sprintf("client %d for %s, from %.3f to %.3f", hungriest.client, hungriest.name, a.since(hungriest.from), a.since(hungriest.to))
	r.ByFault = map[string]int{}
	names := byName(all)
	for _, list := range names {
		for _, c := range overlaps(list) {
			r.Overlaps++
			r.ByFault[a.blame(c.at)]++
			r.Clashes = append(r.Clashes, a.describe("overlap", c))
		}
		r.Together += together(list)
		for _, c := range untold(list, still) {
			r.Untold++
			r.Clashes = append(r.Clashes, a.describe("late notice", c))
		}
		for _, c := range inversions(list) {
			r.Inversions++
			r.Clashes = append(r.Clashes, a.describe("inversion", c))
		}
	}
	a.count(r, all)
	if a.plan.apart() {
		a.waits(r, all, wishes)
	}
	a.recovers(r, all, wishes)
	var lin linearity
	for name, list := range names {
		for _, fenced := range []bool{false, true} {
			if fenced && list[0].token == 0 {
				continue
			}
			lin.add(linear(list, fenced, name, checkerTimeout))
		}
	}
	r.Windows, r.Illegal, r.Unknown = lin.windows, lin.illegal, lin.unknown
	if len(r.Broken()) > 0 || a.t.Failed() {
		r.Kept = a.keep(lin.draw)
	}
	slices.Sort(r.Clashes)
}

// happened counts the faults.
func (a *arena) happened(r *Report) {
	dealt := map[string]int{}
	for _, in := range a.injuries {
		if !in.Again {
			dealt[in.Kind]++
		}
		if in.Took {
			r.Faults[in.Kind]++
		} else {
			r.Vain[in.Kind]++
		}
	}
	for i, k := range a.plan.deck() {
		if n := dealt[k.name]; i == 0 || n < r.Rounds {
			r.Rounds = n
		}
	}
}

// count counts leases and writes.
func (a *arena) count(r *Report, all []belief) {
	lists := a.lists()
	for _, b := range all {
		r.Grants++
		if b.shared {
			r.Readers++
		}
		if b.busy {
			r.Busy++
		}
		if b.lost {
			r.Losses++
		}
		r.LatestNotice = max(r.LatestNotice, b.late)
		for _, kind := range b.acked {
			w := r.writes(kind)
			w.Acked++
			if !lists[kind][b.name][b.element] {
				w.Lost++
			}
		}
		for _, kind := range b.refused {
			r.writes(kind).Refused++
		}
	}
}

// blame returns the last fault that began before the instant, and says whether the fault still lasted then.
func (a *arena) blame(at int64) string {
	var last *injury
	for _, in := range a.injuries {
		if in.Took && in.From <= at && (last == nil || in.From > last.From) {
			last = in
		}
	}
	switch {
	case last == nil:
		return "before the first"
	case last.To == 0 || last.To > at:
		return "during: " + last.Kind
	}
	return "after: " + last.Kind
}

func (a *arena) describe(what string, c clash) string {
	one := func(b belief) string {
		return fmt.Sprintf("client %d.%d lease %d token %d from %.6f to %.6f", b.client, b.loop, b.lease, b.token, a.since(b.from), a.since(b.to))
	}
	return fmt.Sprintf("%10.6f %s of %s: %s; %s; %s", a.since(c.at), what, c.first.name, one(c.first), one(c.second), a.blame(c.at))
}

// keep writes the events and faults to files that people can read.
func (a *arena) keep(pictures []func(dir string) error) string {
	dir := a.plan.Keep
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "chaos-")
	} else {
		dir = filepath.Join(dir, fmt.Sprintf("%s-%d-%d", a.plan.Locker, a.plan.Nodes, a.plan.Seed))
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		a.t.Error(err)
		return ""
	}
	write := func(file string, f func(*json.Encoder)) {
		o, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			a.t.Error(err)
			return
		}
		defer o.Close()
		f(json.NewEncoder(o))
	}
	write("faults.jsonl", func(e *json.Encoder) {
		for _, in := range a.injuries {
			_ = e.Encode(in)
		}
	})
	for _, draw := range pictures {
		if err := draw(dir); err != nil {
			a.t.Error(err)
		}
	}
	for _, p := range a.processes {
		write(fmt.Sprintf("client-%d.jsonl", p.id), func(e *json.Encoder) {
			for _, ev := range p.events {
				_ = e.Encode(ev)
			}
		})
	}
	return dir
}
