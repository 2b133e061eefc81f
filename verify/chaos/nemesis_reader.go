//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// readerKilled is a fault for runs in which no other fault changes the nodes.
const readerKilled = "reader killed"

var readerKinds = []kind{{name: readerKilled, named: true, begin: killReader}}

// death is the end of a reader that was killed while it had a name.
type death struct {
	client int
	name   string
	at     int64
	freed  time.Duration // until the last node frees the reader, by the entries of the nodes; 0: they had none any more
	others int           // other readers that had the name at the kill
	renews int           // their renewals until the reader was freed, on the first node
}

func (d death) String() string {
	return fmt.Sprintf("client %d of %s: freed after %s, beside %d readers with %d renewals", d.client, d.name, d.freed.Round(time.Millisecond), d.others, d.renews)
}

// killReader kills a process that reads. It waits until the nodes have freed its names, and then replaces the process.
func killReader(a *arena, r *rand.Rand) *deed {
	for _, slot := range r.Perm(len(a.slots)) {
		p := a.slots[slot]
		if p == nil || p.role.Readers != 100 || !p.holds() {
			continue
		}
		a.slots[slot] = nil // no other fault uses the slot during this fault
		return &deed{do: func() bool {
			p.kill()
			died := p.reading()
			for i := range died {
				a.bury(&died[i])
			}
			a.mu.Lock()
			a.deaths = append(a.deaths, died...)
			a.mu.Unlock()
			a.startClient(slot)
			return len(died) > 0
		}}
	}
	return nil
}

// reading returns a death for each name that the killed process was reading.
func (p *process) reading() (list []death) {
	p.mu.Lock()
	defer p.mu.Unlock()
	handles := map[string]int{}
	for _, e := range p.events {
		switch e.What {
		case has:
			handles[e.Name]++
		case over:
			handles[e.Name]--
		}
	}
	for name, n := range handles {
		if n > 0 {
			list = append(list, death{client: p.id, name: name, at: p.killed})
		}
	}
	return list
}

// bury looks at the entries of the killed reader until no node counts it, for at most two quarantines. It fills in d.
// An entry has the time at which it ends, so a busy machine does not falsify the result.
func (a *arena) bury(d *death) {
	key := nodescript.ReadersKey(nodescript.RecordKey(d.name))
	last := map[string]int64{} // the expiry of each other reader on the first node
	killed := time.Now().Add(-time.Duration(Monotonic() - d.at))
	for look := 0; ; look++ {
		alive := false
		for i, n := range a.nodes {
			fields, _ := a.do(n.server, "EVAL", "return redis.call('HGETALL', KEYS[1])", 1, key).([]any)
			now := time.Now().Add(n.skew).UnixMicro()
			for f := 0; f+1 < len(fields); f += 2 {
				owner := fmt.Sprint(fields[f])
				expiry := readerExpiry(owner, fmt.Sprint(fields[f+1]))
				switch {
				case clientOf(owner) == d.client && expiry > 0:
					d.freed = max(d.freed, time.UnixMicro(expiry).Add(-n.skew).Sub(killed))
					alive = alive || expiry > now
				case expiry <= now:
				case i > 0:
				case look == 0:
					d.others++
					last[owner] = expiry
				case last[owner] > 0 && expiry > last[owner]:
					d.renews++
					last[owner] = expiry
				}
			}
		}
		if !alive || time.Since(killed) > 2*a.plan.quarantine() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// readerExpiry returns the expiry of an entry of a reader in µs, 0 for a claim or another field.
func readerExpiry(owner, text string) int64 {
	if !nodescript.IsReader(owner) || len(text) != 32 || strings.HasPrefix(text, "0000000000000000") {
		return 0
	}
	expiry, _ := strconv.ParseInt(text[16:], 10, 64)
	return expiry
}
