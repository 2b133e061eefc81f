package sim

import (
	"context"
	"time"
)

// An operator may vouch that no lock is alive. To make that true, no call begins meanwhile, and running calls end
// first: see [world.enters].

// enters waits until no operator holds calls back. It then counts the call that begins.
func (w *world) enters() {
	for {
		w.mu.Lock()
		gate := w.gate
		if gate == nil {
			w.inside++
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		<-gate
	}
}

// exits ends such a call and its lock.
func (w *world) exits() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
}

// shut holds back new calls until open is called. It reports false if they are held back already.
func (w *world) shut() (open func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gate != nil {
		return nil, false
	}
	gate := make(chan struct{})
	w.gate = gate
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gate = nil
		close(gate)
	}, true
}

// alive reports whether a lock may be alive: a call runs, or UnlockAt keeps a name. The caller holds w.mu.
func (w *world) alive() bool {
	for _, n := range w.names {
		if n.foreigners > 0 || n.taken+4*w.plan.Window > w.now() || n.believer() != nil {
			return true
		}
	}
	return w.inside > 0
}

// vouch makes nodes lose their memory while no lock is alive, and an operator vouch for them. The voucher may come
// late, or again.
func (w *world) vouch(f *Fault) {
	open, ok := w.shut()
	if !ok {
		return
	}
	defer open()
	for alive := true; alive; {
		if w.now() > w.plan.Heal-4*w.plan.Timeout-time.Second {
			return
		}
		time.Sleep(w.plan.Window/4 + time.Duration(w.serial()))
		w.mu.Lock()
		alive = w.alive()
		w.mu.Unlock()
	}
	w.each(f.Nodes, func(s *server) { w.forget(s, f, func(string) bool { return false }) })
	ctx, stop := context.WithTimeout(context.Background(), 2*w.plan.Timeout)
	defer stop()
	if w.eachHost(1<<first(f.Clients), func(h *host) { h.client.Admin().Trust(ctx) }) {
		w.struck(Voucher)
	}
}
