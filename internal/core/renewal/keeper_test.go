package renewal

import (
	"testing"
	"time"
)

// A lease that comes when the client holds no lease wakes the scheduler. Leases that come and go after it, one at a
// time, do not wake it.
func TestLeasesThatComeAndGoDoNotWakeTheScheduler(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, time.Hour} {
		suspended(t, time.Hour, func(e *Lease, _ *mute, _ func(time.Duration)) {
			k := &Keeper{fan: e.keeper.fan, timers: e.keeper.timers, wake: make(chan struct{}, 1)}
			k.pause() // the client holds no lease, and never held one
			woken := 0
			for range 100 {
				l := &Lease{keeper: k, index: -1}
				k.add(l, k.fan.Now().Add(k.pace(ttl)))
				k.remove(l)
				select {
				case <-k.wake:
					woken++
					k.pause()
				default:
				}
				time.Sleep(time.Millisecond)
			}
			if woken != 1 {
				t.Errorf("ttl %v: woken %d times in a tenth of a second, want once", ttl, woken)
			}
		})
	}
}
