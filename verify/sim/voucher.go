package sim

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/admin"
)

// An operator may vouch that no lock is alive. To make the statement true, the world begins no new call and waits until
// running calls end: see [world.enters].

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

// exits ends a call that enters counted, and the lock of that call.
func (w *world) exits() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
}

// shut holds back new calls until open is called. It returns false if another operator already holds them back.
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
		if n.foreigners > 0 || max(n.taken, n.shut())+4*w.plan.Window > w.now() || n.believer() != nil {
			return true
		}
	}
	return w.inside > 0
}

// vouch makes nodes lose their memory while no lock is alive. Then an operator vouches for them. The voucher may come
// late or twice.
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
	if w.eachHost(1<<first(f.Clients), func(h *host) { admin.Trust(ctx, h.client) }) {
		w.countFault(Voucher)
	}
}
