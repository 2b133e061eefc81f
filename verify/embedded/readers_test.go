package embedded_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestReadersRunAsOnRedis(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	redistest.Eventually(t, 20*time.Second, "both vote", func() bool {
		return p.both[0].admit(shared, now()).Verdict == nodescript.Done && p.both[1].admit(shared, now()).Verdict == nodescript.Done
	})
	T := now()
	p.op("read", nodescript.Granted, nodescript.AcquireCall(lock, "a~1~x~r", T, ttl))
	p.op("read too", nodescript.Granted, nodescript.AcquireCall(lock, "b~1~x~r", T+1, ttl))
	p.op("write beside readers", nodescript.Held, nodescript.QueueCall(lock, "c~1~x", now(), ttl, T))
	last := now()
	p.op("read behind a writer that nobody hears", nodescript.Granted, nodescript.QueueCall(lock, "d~1~x~r", last, ttl, T+1))
	for i, w := range p.both {
		var got []string
		for _, r := range w.view(t).Readers.List {
			got = append(got, r.Owner)
		}
		if want := []string{"a~1~x~r", "b~1~x~r", "d~1~x~r"}; !slices.Equal(got, want) {
			t.Errorf("server %d lists %q, want %q", i, got, want)
		}
	}
	stamp := now() // the calls before may have taken long on a busy machine
	p.op("extend", nodescript.Extended, nodescript.ExtendCall(lock, "a~1~x~r", T, stamp, stamp+1e6, ttl, window))
	p.op("leave", nodescript.Done, nodescript.LeaveCall(lock, "b~1~x~r", T+1, T+1000))
	p.op("release", nodescript.Done, nodescript.ReleaseCall(lock, "a~1~x~r", stamp))
	p.op("late extend", nodescript.Lost, nodescript.ExtendCall(lock, "a~1~x~r", T, stamp, stamp+1e6, ttl, window))
	p.op("release the last", nodescript.Done, nodescript.ReleaseCall(lock, "d~1~x~r", last))
	T = now() + 1000
	p.op("write after readers", nodescript.Granted, nodescript.AcquireCall(lock, "c~1~x", T, ttl))
	p.op("become a reader", nodescript.Granted, nodescript.PassCall(lock, "c~1~x~r", T+1, ttl, "c~1~x"))
	p.op("release", nodescript.Done, nodescript.ReleaseCall(lock, "c~1~x~r", T+1))
}
