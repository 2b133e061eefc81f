package values

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// valueKey is the key of the value of the only lock.
var valueKey = nodescript.ValueKey(nodescript.RecordKey(name))

// forgets makes nodes lose their memory, come back with old data, or evict the value.
func (w *World) forgets(rng *rand.Rand) {
	old := make([]string, len(w.models)) // by node, a value that it had at some time
	for i := 0; !w.calm.Load(); i++ {
		time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
		n := rng.IntN(len(w.models))
		m := w.models[n]
		if rng.IntN(2) == 0 {
			old[n] = w.text(n)
			continue
		}
		if w.calm.Load() || !w.forget(n, len(w.models)) {
			continue
		}
		w.Losses++
		switch rng.IntN(4) {
		case 0:
			m.Evict(func(key string) bool { return key == valueKey })
		case 1: // only data on disk comes back
			m.Restart(fmt.Sprintf("run%d.%d", n, i), "", true)
			if m.Del(valueKey); old[n] != "" {
				m.Set(valueKey, old[n], nodescript.ValueKept)
			}
		case 2:
			m.FlushAll()
		default:
			m.Restart(fmt.Sprintf("run%d.%d", n, i), "", false)
		}
	}
}

func (w *World) text(n int) string {
	for _, k := range w.models[n].Keys() {
		if k.Name == valueKey {
			return k.Text
		}
	}
	return ""
}

// shuts cuts single nodes off.
func (w *World) shuts(rng *rand.Rand) {
	for !w.calm.Load() {
		time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
		off := &w.off[rng.IntN(len(w.off))]
		off.Store(!w.calm.Load())
		time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
		off.Store(false)
	}
}

// misleads makes the clock of one node wrong for some time.
func (w *World) misleads(rng *rand.Rand) {
	n := rng.IntN(len(w.models))
	for !w.calm.Load() {
		time.Sleep(time.Duration(rng.Int64N(int64(6 * time.Second))))
		if w.calm.Load() {
			return
		}
		by := []time.Duration{window, -window, 3 * window, -3 * window, time.Minute, -time.Minute, 3 * time.Hour}[rng.IntN(7)]
		// A wrong clock deletes keys, so it counts as a loss of memory. Each clock is set right again before the faults
		// end.
		if !w.forget(n, len(w.models)) {
			continue
		}
		w.clocks[n].Add(int64(by))
		time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
		w.clocks[n].Add(-int64(by))
	}
}
