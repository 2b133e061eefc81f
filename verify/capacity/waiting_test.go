//go:build linux

package main

// fewWaits is a number of waiters whose questions come alone.
const fewWaits = 250

// waiting measures few waiters, whose questions each wake the process, and two larger numbers, beside which it wakes as
// often as it can.
func (f *fit) waiting() {
	f.waiter = f.client()
	f.waiter.do("touch", 0, touches)
	f.waiter.do("look", 100, 0)
	base := f.waiter.memory()
	f.waiter.do("wait", 0, fewWaits)
	f.waiter.do("look", int(settled.Milliseconds()), 0)
	few := f.asks()
	f.waiter.do("wait", fewWaits, waits)
	f.k.MemoryWaiter = queuesOf(f.t, f.server) / waits
	f.waiter.do("look", int(settled.Milliseconds()), 0)
	s := f.asks()
	f.k.Asks = s.n / s.seconds / waits
	f.k.ServerAsk = (s.tally.CPU - f.background(2, s.seconds) - (s.Calls["evalsha"]-s.n)*f.k.ServerRenewal) / s.n
	f.k.ClientWaiter = (f.waiter.memory() - base) / waits
	f.waiter.do("wait", waits, holds)
	f.waiter.do("look", 2000, 0)
	most := f.asks()
	f.waiter.do("leave", 0, 0)
	f.holder.do("release", 0, holds)

	rest := f.resting(1)
	each := func(s slice) (rate, cpu float64) { return s.n / s.seconds, s.usage.CPU/s.seconds - rest }
	lowRate, low := each(few)
	midRate, mid := each(s)
	topRate, top := each(most)
	waking, ask := line([2]float64{midRate, topRate}, [2]float64{mid, top})
	f.k.ClientAsk = ask
	f.k.ClientWake = low/lowRate - ask
	f.k.ClientWakes = waking / f.k.ClientWake
}

// asks returns the cheapest slice of waiters. Each question has one ZADD.
func (f *fit) asks() slice {
	return f.look(f.waiter, paces(2, measureTTL), func(s slice) float64 { return s.Calls["zadd"] })
}
