package fanout

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// mostAsking is the number of slots about which Replace asks at a time.
const mostAsking = 8

// Replace gives the configuration of this client to the hash slots of a shard that have another one. It returns their
// number. The locks that a slot granted under the other configuration must have ended. A whole quarantine of the slot
// follows, and Replace begins it.
func (f *Fanout) Replace(ctx context.Context) (n int, err error) {
	f.AskVotes(ctx) // it greets the shard
	h := f.senders[0].slots
	for all := h.shard.Slots(); len(all) > 0; {
		some := all[:min(len(all), sweepEach)]
		all = all[len(some):]
		more, err := h.replace(ctx, some)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

// replace does the work of Replace for some slots. The slots whose loss of memory one call has noted have the same mark.
func (h *hashSlots) replace(ctx context.Context, slots []int) (n int, err error) {
	for try := 0; ; try++ {
		switch one, _, err := h.sweepSome(slots, ""); {
		case err != nil || one.Others == 0:
			return n, err
		case try == mostAsked: // other clients are at work
			return n, nodescript.ErrVoid
		}
		more, err := h.replaceOnce(ctx, slots)
		if n += more; err != nil {
			return n, err
		}
	}
}

// replaceOnce replaces the configuration of the slots whose answers come in time, and whose marks stay the same.
func (h *hashSlots) replaceOnce(ctx context.Context, slots []int) (n int, err error) {
	said := make([]nodescript.Answer, len(slots))
	var wait sync.WaitGroup
	for w := range mostAsking {
		wait.Go(func() {
			for i := w; i < len(slots) && ctx.Err() == nil; i += mostAsking {
				said[i] = h.askSlot(slots[i])
			}
		})
	}
	wait.Wait()
	marked := map[string][]int{}
	for i, a := range said {
		if a.Verdict == nodescript.Misconfigured {
			marked[a.Names] = append(marked[a.Names], slots[i])
		}
	}
	for mark, some := range marked {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		one, _, err := h.sweepSome(some, mark)
		if n += len(some) - one.Others; err != nil {
			return n, err
		}
	}
	return n, ctx.Err()
}
