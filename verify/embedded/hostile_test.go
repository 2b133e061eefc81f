package embedded_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/holdfasttest/embedded"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/node"
)

// hostile is the data that a hostile client may store if it may write the keys of one name.
type hostile struct{ record, plain, waits string }

// forged returns records whose text looks like the answers to other calls.
func forged() (all []hostile) {
	head := func(owner string) nodescript.Record {
		t := now()
		return nodescript.Record{Seen: t, Token: t, Expiry: t + 60_000_000, Owner: owner}
	}
	claim := head("")
	claim.Token, claim.Waiting = 0, true
	for _, answer := range []string{"002G0", "001E", "001R", "001D"} {
		for _, size := range []int{200, 260, 974, 975, 976, 1000, 2000, 5000, 9975, 20_000} {
			for _, from := range []int{77, 78, 79, 0, 153} {
				text := strings.Repeat("x", from) + strings.Repeat(answer, 64)
				text = (text + strings.Repeat("y", size))[:size]
				all = append(all, hostile{record: head(text).String()})
				if from == 77 {
					all = append(all, hostile{record: claim.String() + text}, hostile{plain: text})
				}
			}
		}
	}
	for i := range 4 { // each place of a record that has a time gets an invalid time
		for _, bad := range []string{"zzzzzzzzzzzzzzzz", "!!!!!!!!!!!!!!!!", "0x00000000000001", "  17900000000000", "             nan", "\x00\xff\r\n------------"} {
			text := head("o~c~1-1").String()
			at := i * 16
			if i == 3 {
				at++
			}
			all = append(all, hostile{record: text[:at] + bad + text[at+16:]})
		}
	}
	for _, waits := range []string{strings.Repeat("w", 5000), "a~b~1-1\n1{other}:holdfast", "no client", "~~", "a~b\n~c"} {
		gone := head("gone~k~1-1")
		gone.Expiry, gone.Waiting = 1, true
		all = append(all, hostile{record: gone.String(), waits: waits})
	}
	return append(all, hostile{record: "x"}, hostile{record: strings.Repeat("7", 64)}, hostile{record: head("").String()[:49] + "x"})
}

// victim is a server. Another client holds some names on it, and some names are free.
type victim struct {
	*wire
	tb testing.TB
}

const holder = "holder~k~1-1"

var besieged = nodescript.Config{N: 1, MaxTTL: 5 * time.Second, Window: window, Cluster: "besieged"}

func newVictim(tb testing.TB, addr string) *victim {
	v := &victim{dial(tb, addr), tb}
	h, err := v.hello()
	if err != nil {
		tb.Fatal(err)
	}
	v.Set(ctx, nodescript.TrustKey, h.Run, 0)
	redistest.Eventually(tb, time.Minute, "it votes", func() bool { return v.admit(besieged, now()).Verdict == nodescript.Done })
	return v
}

// together runs calls as one call, and returns the answer to each.
func (v *victim) together(calls ...nodescript.Call) []nodescript.Answer {
	var t nodescript.Together
	for _, c := range calls {
		if !t.Add(c) {
			v.tb.Fatal("not together")
		}
	}
	all := make([]nodescript.Answer, len(calls))
	text, err := v.EvalSha(ctx, v.scripts.SHA(t.Op), t.Keys, anys(t.Args)...).Text()
	t.ParseReplies(reply(text, err), func(i int, a nodescript.Answer) { all[i] = a })
	return all
}

// suffers stores the data of a hostile client under one name. It then asks for that name in every way, together with
// other names. Any answer for that name is allowed, but the answers for the other names must not change.
func (v *victim) suffers(h hostile) {
	name := func(n string) nodescript.Lock { return nodescript.Lock{Name: n} }
	at := func(n string, owner string) {
		t := now()
		r := nodescript.Record{Seen: t, Token: t, Expiry: t + ttl.Microseconds(), Owner: owner}
		v.Set(ctx, nodescript.RecordKey(n), r.String(), ttl)
		v.Set(ctx, n, owner, ttl)
	}
	for place := range 3 { // before, between and behind the other names
		for _, what := range []string{"acquire", "wait", "extend", "release"} {
			keys := []string{"bad", nodescript.RecordKey("bad"), nodescript.RecordKey("bad") + ":queue", "free", nodescript.RecordKey("free")}
			v.Del(ctx, keys...)
			at("held1", holder)
			at("held2", holder)
			if h.record != "" {
				v.Set(ctx, keys[1], h.record, time.Minute)
			}
			if h.plain != "" {
				v.Set(ctx, keys[0], h.plain, time.Minute)
			}
			if h.waits != "" {
				v.ZAdd(ctx, keys[2], redis.Z{Score: 1, Member: h.waits})
			}
			call := func(n string) nodescript.Call {
				switch t := now(); what {
				case "extend":
					return nodescript.ExtendCall(name(n), "me~m~1-1", t, t, t+10_000_000, ttl, besieged.Window)
				case "release":
					return nodescript.ReleaseCall(name(n), "me~m~1-1", t)
				case "wait":
					return nodescript.QueueCall(name(n), "me~m~1-1", t, ttl, t)
				default:
					return nodescript.AcquireCall(name(n), "me~m~1-1", t, ttl)
				}
			}
			names := []string{"held1", "free", "held2"}
			names = append(names[:place:place], append([]string{"bad"}, names[place:]...)...)
			var calls []nodescript.Call
			for _, n := range names {
				calls = append(calls, call(n))
			}
			for i, a := range v.together(calls...) {
				var ok bool
				switch {
				case names[i] == "bad":
					ok = a.Verdict != nodescript.Failed || node.Code(a.Err) == node.WrongType
				case what == "release":
					ok = a.Verdict == nodescript.NotMine
				case names[i] == "free":
					ok = a.Verdict == nodescript.Granted || what == "extend" && a.Verdict == nodescript.Repaired
				case what == "extend":
					ok = a.Verdict == nodescript.Lost && a.Owner == holder
				default:
					ok = a.Verdict == nodescript.Held && a.Owner == holder
				}
				if !ok {
					v.tb.Errorf("%s of %q beside %.100q at %d: %s is told %+.300v", what, names, fmt.Sprint(h), place, names[i], fmt.Sprint(a))
				}
			}
			if v.tb.Failed() {
				v.tb.FailNow()
			}
		}
	}
	alone := v.call(nodescript.AcquireCall(name("bad"), "me~m~1-1", now(), ttl))
	if alone.Verdict == nodescript.Failed {
		v.tb.Fatalf("alone it is told %v", alone.Err)
	}
}

// looksShort checks that a look at a name returns few bytes, no matter what is stored there.
func (v *victim) looksShort() {
	r := v.eval(nodescript.InspectText(), nodescript.InspectCall(nodescript.Lock{Name: "bad"}))
	if len(r.Value) > 1000 || r.Err != nil {
		v.tb.Fatalf("a look at it returns %d bytes, %v", len(r.Value), r.Err)
	}
	_, _ = nodescript.ParseView(r)
}

// The record of one name must not affect the answer for another name, no matter what the record contains.
func TestNoRecordAnswersForAnotherName(t *testing.T) {
	t.Parallel()
	for what, addr := range map[string]string{"embedded": start(t, embedded.Restarted()).Addr(), "redis-server": redistest.Start(t).Addr()} {
		t.Run(what, func(t *testing.T) {
			v := newVictim(t, addr)
			for i, h := range forged() {
				if !testing.Short() || i%5 == 0 {
					v.suffers(h)
				}
			}
			for _, h := range forged() {
				v.Set(ctx, nodescript.RecordKey("bad"), h.record, time.Minute)
				v.looksShort()
			}
		})
	}
}

func FuzzHostileRecords(f *testing.F) {
	for i, h := range forged() {
		if !testing.Short() || i%5 == 0 {
			f.Add(h.record, h.plain, h.waits)
		}
	}
	v := newVictim(f, start(f).Addr())
	f.Fuzz(func(t *testing.T, record, plain, waits string) {
		v.tb = t
		v.suffers(hostile{record, plain, waits})
		v.looksShort()
	})
}
