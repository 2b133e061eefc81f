package crowd

import (
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast"
)

// witness knows the holders of the slots, as they see themselves: a holder relies on its lease until the lease's context
// ends.
type witness struct {
	mu      sync.Mutex
	holders map[int]*holdfast.Lease
	fences  map[int]int64
	broken  string
	Leases  int
	Most    int // the largest number of holders at a time
	Waits   int // how often a waiting call was told of a failed attempt
}

// takes notes a holder.
func (w *witness) takes(l *holdfast.Lease, k int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slot := l.Slot()
	switch other := w.holders[slot]; {
	case slot < 0 || slot >= k:
		w.breaks("%v of %d slots", l, k)
	case other != nil && other.Context().Err() == nil && l.Context().Err() == nil:
		w.breaks("%v and %v at the same time", other, l)
	case l.Fence() <= w.fences[slot]:
		w.breaks("%v follows the fence %d", l, w.fences[slot])
	}
	w.holders[slot], w.fences[slot] = l, l.Fence()
	w.Leases++
	n := 0
	for _, h := range w.holders {
		if h.Context().Err() == nil {
			n++
		}
	}
	w.Most = max(w.Most, n)
}

func (w *witness) breaks(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}
