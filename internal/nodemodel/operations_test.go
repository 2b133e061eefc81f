package nodemodel

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// names of locks: plain ones, tagged ones, bytes. Two of them would share a record key if tags were ignored.
var names = []string{"x", "{x}", "a{t}b", "\x00\xff\r\n"}

// longestOwner leaves room in a record for the suffix that leave adds.
const longestOwner = nodescript.MostOwner - len("~left")

// owners are owners of three clients, and two without a client.
var owners = []string{
	"web/1~k~Q", "web/2~m~R", "web/1~k~S", "web/2~m~T", "\x00'~\xff\r\x00~", "no client~", strings.Repeat("l", longestOwner),
}

// intruders are values that another program may have stored as an owner: too long, with two lines, or text that looks
// like the answers of other calls.
var intruders = []string{
	"one~k~2\n1{x}:holdfast", "o\nne~k~2", "web/1~k~" + strings.Repeat("q", 249), strings.Repeat("~", 256), strings.Repeat("~", 257), strings.Repeat("l", 257), strings.Repeat("x", 77) + strings.Repeat("002G0", 185),
	strings.Repeat("x", 900), strings.Repeat("001E", 2000), strings.Repeat("002G1", 16_000),
}

// sharers are owners of readers of the same clients.
var sharers = []string{"web/1~k~U~r", "web/2~m~V~r", "web/1~k~W~r", "web/2~m~X~r", "no client~~r"}

// universe is every key that a sequence of operations can make.
var universe = func() []string {
	keys := []string{nodescript.GuardKey, nodescript.AdmissionKey, nodescript.KeptKey, nodescript.PeersKey, nodescript.TrustKey}
	for _, n := range names {
		key := nodescript.RecordKey(n)
		keys = append(keys, n, key, queueKey(key), nodescript.ReadersKey(key), nodescript.ValueKey(key), nodescript.ForcedKey(key))
	}
	return keys
}()

// inboxes are all channels on which a hand-off may be announced.
var inboxes = func() []string {
	var channels []string
	for _, o := range owners {
		if c := nodescript.Inbox(client(o)); !slices.Contains(channels, c) {
			channels = append(channels, c)
		}
	}
	return channels
}()

// operation is one step on both sides. Another world can repeat it.
type operation struct {
	say string
	do  func(*world) (real, model string)

	call *nodescript.Call // set if it is a call of a loaded script
}

// generator draws operations. It reads the model's state, so that most operations come near an edge.
type generator struct {
	*rand.Rand
	w    *world
	home int // the configuration of most clients
	then []operation
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// inRange limits a time to the range of the protocol.
func inRange(us int64) int64 { return min(max(us, 1), 9e15) }

func (g *generator) lock() nodescript.Lock {
	return nodescript.Lock{Name: pick(g, names[0], names[0], pick(g, names...)), Private: g.IntN(4) == 0}
}

func (g *generator) config() int {
	if g.IntN(40) == 0 {
		return g.IntN(len(configs))
	}
	return g.home
}

func (g *generator) record(l nodescript.Lock) nodescript.Record {
	r, _ := g.w.model.record(nodescript.RecordKey(l.Name))
	return r.Record
}

// owner often returns the present owner.
func (g *generator) owner(l nodescript.Lock) string {
	if o := g.record(l).Owner; o != "" && len(o) != 16 && len(o) <= longestOwner && g.IntN(2) == 0 { // 16 is a ticket
		return o
	}
	return pick(g, owners...)
}

// waiter often returns the first of the queue.
func (g *generator) waiter(l nodescript.Lock) string {
	if q, _ := g.w.model.queue(queueKey(nodescript.RecordKey(l.Name))); len(q) > 0 && g.IntN(2) == 0 {
		if o := q[g.IntN(g.IntN(len(q))+1)].owner; len(o) <= longestOwner {
			return o
		}
	}
	return g.owner(l)
}

// ticket returns an old or a new ticket, and sometimes a ticket that another waiter also has.
func (g *generator) ticket() int64 {
	return inRange(g.w.now - pick[int64](g, 0, 0, W, 1_000_000, 1_000_001, g.Int64N(3_000_000), -W))
}

// stamp returns a time within the window of the clock, on its edge, or just outside.
func (g *generator) stamp() int64 {
	near := g.Int64N(2*W+1) - W
	return inRange(g.w.now + pick(g, 0, near, near, near, near, near, -W, W, -W-1, W+1, -W+1, W-1))
}

// renewal returns the stamp and the TTL of a renewal. Half of them are late: the stamp is older than the window, by up
// to the TTL and a bit more.
func (g *generator) renewal() (stamp int64, ttl time.Duration) {
	ttl = g.ttl()
	us := ttl.Microseconds()
	if g.IntN(2) == 0 {
		return g.stamp(), ttl
	}
	late := W + 1 + g.Int64N(us-W)
	return inRange(g.w.now - pick(g, late, late, late, late, late, W+1, us-1, us, us+1)), ttl
}

// token returns a stamp, or a token near those of the record.
func (g *generator) token(l nodescript.Lock) int64 {
	r, s := g.record(l), g.stamp()
	if far := r.Seen - g.w.now; (far > 2*W || far < -2*W) && g.IntN(5) > 0 {
		return s
	}
	return inRange(pick(g, s, s, s, r.Seen+1, r.Seen, r.Seen-1, r.Token, r.Token, r.Token+1, r.Token-1))
}

func (g *generator) ttl() time.Duration {
	return pick(g, 2*time.Second, 2*time.Second+time.Microsecond, 3*time.Second, 10*time.Second, 2999999*time.Microsecond)
}

// instant returns a time near the begin or end of something.
func (g *generator) instant(l nodescript.Lock) int64 {
	r, now := g.record(l), g.w.now
	at := []int64{now, now, now, r.Expiry, r.Seen, r.Seen + W, r.Seen - W, now + 2*hour}
	for _, k := range universe {
		if v := g.w.model.keys[k]; v != nil && v.expires != 0 {
			at = append(at, v.expires*1000, v.expires*1000+999)
		}
	}
	if a, err := g.w.model.remembered(); err == nil && a.run != "" && a.until != never {
		at = append(at, a.until, a.until, a.until, a.refreshed+hour, a.refreshed+hour+10_250_000)
	}
	return inRange(pick(g, at...) + pick[int64](g, 0, 0, 1, -1, 1000, -1000, W, -W, W+1, 2*W, -2*W, 1_000_000))
}

func (g *generator) next() operation {
	if len(g.then) > 0 {
		o := g.then[0]
		g.then = g.then[1:]
		return o
	}
	if (g.w.model.Full || g.w.model.Info.Policy != "noeviction") && g.IntN(12) == 0 {
		return g.memory(false, "noeviction")
	}
	if _, there := g.w.model.keys[nodescript.GuardKey]; !there && g.IntN(3) > 0 {
		if g.IntN(6) == 0 {
			return g.quit()
		}
		if g.IntN(20) == 0 {
			return g.vouchTwice()
		}
		if a, err := g.w.model.remembered(); err == nil && a.until > g.w.now && a.until != never && g.IntN(2) == 0 {
			return g.clock(a.until + g.Int64N(2))
		}
		return g.admit()
	}
	if g.IntN(12) == 0 {
		return g.together()
	}
	if g.IntN(60) == 0 || g.w.values && g.IntN(2) == 0 {
		return g.value()
	}
	if g.IntN(50) == 0 {
		return g.force()
	}
	if g.IntN(5) == 0 {
		return g.shared()
	}
	switch p := g.IntN(1000); {
	case p < 330:
		return g.acquire()
	case p < 450:
		return g.extend()
	case p < 580:
		return g.release()
	case p < 610:
		return g.leave()
	case p < 640:
		return g.quit()
	case p < 655:
		return g.refresh()
	case p < 680:
		return g.admit()
	case p < 710:
		return g.peers()
	case p < 720:
		return g.inspect()
	case p < 820:
		return g.elapse()
	case p < 860:
		return g.listen()
	case p < 910:
		return g.write()
	case p < 935:
		return g.story()
	case p < 970:
		return g.queueStory()
	default:
		return g.disaster()
	}
}

func (g *generator) script(config int, c nodescript.Call) operation {
	return operation{
		say:  fmt.Sprintf("%s%d %q %q", c.Op, config, c.Keys, c.Args),
		do:   func(w *world) (string, string) { return w.call(config, c) },
		call: &c,
	}
}

// together draws several calls that travel as one, sometimes for the same name.
func (g *generator) together() operation {
	draw, config := pick(g, g.acquire, g.acquire, g.release, g.extend, g.acquireShared, g.releaseShared, g.extendShared), g.config()
	var t nodescript.Together
	for want := 2 + g.IntN(4); t.N < want; {
		t.Add(*draw().call) // with another number of keys it is left out
	}
	return operation{
		say: fmt.Sprintf("%d x %s%d %q %q", t.N, t.Op, config, t.Keys, t.Args),
		do:  func(w *world) (string, string) { return w.together(config, &t) },
	}
}

func (g *generator) acquire() operation {
	l := g.lock()
	owner, T := g.owner(l), g.token(l)
	if g.IntN(8) == 0 {
		owner, T = g.holder(l) // the command arrives twice
	}
	ttl := g.ttl()
	switch g.IntN(8) {
	case 0, 1, 2, 3:
		return g.script(g.config(), nodescript.QueueCall(l, pick(g, owner, g.waiter(l)), T, ttl, g.ticket()))
	case 4:
		return g.script(g.config(), nodescript.PassCall(l, owner, T, ttl, g.owner(l)))
	}
	return g.script(g.config(), nodescript.AcquireCall(l, pick(g, owner, owner, g.waiter(l)), T, ttl))
}

// holder returns the owner that has the lock, and its token. Sometimes it returns another owner.
func (g *generator) holder(l nodescript.Lock) (owner string, T int64) {
	if r := g.record(l); r.Owner != "" && r.Token > 0 && g.IntN(3) > 0 {
		return owned(r.Owner), r.Token
	}
	return g.owner(l), g.token(l)
}

// owned returns an owner of a record as a client may have made it.
func owned(owner string) string {
	owner = strings.ReplaceAll(owner, "~left", "") // also of a reader
	return owner[:min(len(owner), longestOwner)]
}

func (g *generator) release() operation {
	l := g.lock()
	owner, T := g.holder(l)
	if g.IntN(6) == 0 {
		owner = g.waiter(l)
	}
	if g.IntN(8) == 0 {
		return g.script(g.config(), nodescript.DeclineCall(l, pick(g, owner, g.waiter(l), cmp.Or(g.record(l).Owner, owner))))
	}
	give := pick(g, nodescript.ReleaseCall, nodescript.ReleaseCall, nodescript.AbortCall)
	return g.script(g.config(), give(l, owner, inRange(pick(g, T, T, T, g.token(l), g.stamp()+hour))))
}

func (g *generator) extend() operation {
	l := g.lock()
	deadline := pick(g, g.w.now, g.w.now+1, g.w.now-W, g.w.now-W-1, g.w.now-W+1, g.record(l).Expiry, g.w.now+2_000_000)
	owner, T := g.holder(l)
	stamp, ttl := g.renewal()
	return g.script(g.config(), nodescript.ExtendCall(l, owner, T, stamp, deadline, ttl, time.Duration(W)*time.Microsecond))
}

func (g *generator) leave() operation {
	l := g.lock()
	owner, T := g.holder(l)
	return g.script(g.config(), nodescript.LeaveCall(l, owner, T, inRange(g.w.now+pick[int64](g, 0, 1, -1, 1000, 60_000_000, -5_000_000))))
}

func (g *generator) quit() operation {
	l := g.lock()
	return g.script(g.config(), nodescript.QuitCall(l, g.waiter(l)))
}

// value loads or stores the value of a register, most often for the holder.
func (g *generator) value() operation {
	l := g.lock()
	owner, T := g.holder(l)
	key := nodescript.ValueKey(nodescript.RecordKey(l.Name))
	switch g.IntN(16) {
	case 0: // from before a loss of memory, or of a lease whose token is ahead
		since := pick(g, "0000000000000000", g.w.model.since(), nodescript.Micros(g.instant(l)))
		return g.set(key, since+nodescript.Micros(pick(g, T, g.token(l)))+"00000002v"+"old", time.Hour)
	case 1:
		return g.set(key, strings.Repeat("7", pick(g, 0, 40, 41, 41+nodescript.MostValue, 42+nodescript.MostValue)), time.Hour)
	case 2:
		return g.hset(key)
	}
	switch g.IntN(4) {
	case 0:
		return operation{say: fmt.Sprintf("peek %q", l.Name), do: func(w *world) (string, string) {
			return w.eval(nodescript.PeekText(), nodescript.PeekCall(l))
		}}
	case 1:
		return g.script(g.config(), nodescript.LoadValueCall(l, owner, T, g.stamp()))
	}
	text := pick(g, "", "v", "\x00\xff\r\n", strings.Repeat("x", nodescript.MostValue))
	return g.script(g.config(), nodescript.StoreValueCall(l, owner, T, g.stamp(), g.Int64N(4), text, g.IntN(4) == 0))
}

// listen makes a client subscribe to its inbox, or ends the subscription.
func (g *generator) listen() operation {
	return g.hears(pick(g, inboxes...), g.IntN(3) > 0)
}

func (g *generator) hears(channel string, on bool) operation {
	return operation{say: fmt.Sprintf("listen %q %t", channel, on), do: func(w *world) (string, string) {
		w.listen(channel, on)
		return "", ""
	}}
}

func (g *generator) refresh() operation {
	return g.script(g.config(), nodescript.RefreshCall(g.stamp(), time.Duration(W)*time.Microsecond))
}

func (g *generator) admit() operation {
	return g.asks(g.config(), pick(g, g.w.now, g.w.now, g.w.now, g.stamp()), g.IntN(4) > 0)
}

// peers reports some of six servers. Their addresses are spelled differently.
func (g *generator) peers() operation {
	config := g.config()
	var list []nodescript.Peer
	for i := range 6 {
		if g.IntN(2) == 0 {
			continue
		}
		ago := pick[int64](g, 0, 0, 1_000_000, g.Int64N(5_000_000), g.Int64N(40_000_000))
		list = append(list, nodescript.Peer{
			ID: fmt.Sprint("id", i), Addr: fmt.Sprint("redis://h", g.IntN(7)), Seen: inRange(g.w.now - ago),
		})
	}
	a, _ := g.w.model.remembered()
	met := pick(g, a.id, a.id, a.id, "another", "")
	c := nodescript.PeersCall(configs[config], g.stamp(), met, list)
	return operation{say: fmt.Sprintf("peers%d %q", config, c.Args), do: func(w *world) (string, string) {
		real, model := w.eval(nodescript.PeersText(), c)
		w.count("peers", model, 1)
		if _, rest, ok := strings.Cut(model, "\n"); ok && rest[0] != '\n' {
			w.seen["peers strangers"]++
		}
		return real, model
	}}
}

func (g *generator) inspect() operation {
	if g.IntN(4) == 0 {
		return operation{say: "hello", do: func(w *world) (string, string) {
			return w.eval(nodescript.HelloText(), nodescript.InspectCall(nodescript.Lock{}))
		}}
	}
	l := g.lock()
	return operation{say: fmt.Sprintf("inspect %q", l.Name), do: func(w *world) (string, string) {
		return w.eval(nodescript.InspectText(), nodescript.InspectCall(l))
	}}
}

func (g *generator) elapse() operation {
	now := g.w.now
	return g.clock(pick(g, g.instant(g.lock()), now+g.Int64N(5_000_000), now+1, now+999, now+W, now+W+1, now-1, now-W, now-W-1, start))
}

func (g *generator) clock(us int64) operation {
	if us = max(1, us); us > 9e15 && us < 1e16 {
		us = 1e16 // no time within the protocol's range is ahead of this clock
	}
	return operation{say: fmt.Sprintf("clock %d", us), do: func(w *world) (string, string) { w.at(us); return "", "" }}
}
