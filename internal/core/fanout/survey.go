package fanout

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// survey asks each node directly, outside the queues. It returns when ask has returned for each node. Each question has
// its own node timeout: see asker.
func (f *Fanout) survey(ctx context.Context, ask func(ctx context.Context, i int, n *asker)) {
	var wait sync.WaitGroup
	for i, n := range f.askers {
		wait.Go(func() { ask(ctx, i, n) })
	}
	wait.Wait()
}

// Inspect returns the record of a lock on each node, or the node's error.
func (f *Fanout) Inspect(ctx context.Context, l nodescript.Lock) ([]nodescript.View, []error) {
	views, errs := make([]nodescript.View, f.N()), make([]error, f.N())
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		views[i], errs[i] = nodescript.ParseView(n.Eval(ctx, nodescript.InspectText(), nodescript.InspectCall(l)))
	})
	return views, errs
}

// InspectSlots returns the record of each slot of a semaphore on each node, or the error of the node.
func (f *Fanout) InspectSlots(ctx context.Context, s nodescript.Slots) ([][]nodescript.View, [][]error) {
	views, errs := make([][]nodescript.View, f.N()), make([][]error, f.N())
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		all, failed := make([]nodescript.View, s.K), make([]error, s.K)
		var wait sync.WaitGroup
		for first := range min(s.K, mostQuestions) {
			wait.Go(func() {
				for slot := first; slot < s.K; slot += mostQuestions {
					r := n.Eval(ctx, nodescript.InspectText(), s.InspectCall(slot))
					all[slot], failed[slot] = nodescript.ParseView(r)
					if unanswered(r) { // the next questions would wait in vain, too
						for ; slot < s.K; slot += mostQuestions {
							failed[slot] = r.Err
						}
						return
					}
				}
			})
		}
		wait.Wait()
		views[i], errs[i] = all, failed
	})
	return views, errs
}

// Trust stores an operator's voucher on each node that does not vote. The voucher names the loss of memory that the
// node reports now, and so does not count for later losses. Trust first calls meant for each loss. If meant returns
// false, the operator does not vouch for that loss, and the node's error is [nodescript.ErrVoid]. Trust also removes
// earlier refusals from this client, so that the next greeting uses the voucher.
func (f *Fanout) Trust(ctx context.Context, meant func(node int, loss string) bool) []error {
	errs := make([]error, f.N())
	for _, v := range f.voters {
		v.reconsider()
	}
	f.AskVotes(ctx)
	f.survey(ctx, func(ctx context.Context, i int, _ *asker) {
		ctx, cancel := context.WithTimeout(ctx, f.patience())
		defer cancel()
		v := f.voters[i]
		v.greeting.Lock() // an admission at the same time would overwrite the result
		defer v.greeting.Unlock()
		v.mu.Lock()
		names := v.standing.Challenge()
		v.mu.Unlock()
		if names == "" {
			return // the node votes, or the client has not met it
		}
		if !meant(i, names) {
			errs[i] = nodescript.ErrVoid
			return
		}
		errs[i] = nodescript.ParseTrust(v.node.Eval(ctx, nodescript.TrustText(), nodescript.TrustCall(f.config.Set, names)))
		v.reconsider()
	})
	return errs
}

// Loss returns the name of a node's loss of memory, as a voucher quotes it. It returns "" if the node votes or the
// client has not met the node.
func (f *Fanout) Loss(i int) string {
	v := f.voters[i]
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Challenge()
}

// Incarnation returns the run id and the version of the server that the client met last behind a node. Both are "" if
// the client has not met the node.
func (f *Fanout) Incarnation(i int) (run, version string) {
	v := f.voters[i]
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Run(), v.standing.Version()
}

// Quarantine returns a node's last answer about its quarantine, or false if that quarantine has ended.
func (f *Fanout) Quarantine(i int) (a nodescript.Answer, ok bool) {
	v := f.voters[i]
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.standing.Quarantine(f.Now())
}
