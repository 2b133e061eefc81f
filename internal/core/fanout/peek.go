package fanout

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/core/clock"
	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// Peek returns for each node the value of a lock, or the node's error. The value is nil if the node has none.
func (f *Fanout) Peek(ctx context.Context, l nodescript.Lock) ([]*nodescript.Stored, []error) {
	values, errs := make([]*nodescript.Stored, f.N()), make([]error, f.N())
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		values[i], errs[i] = nodescript.ParsePeek(n.Eval(ctx, nodescript.PeekText(), nodescript.PeekCall(l)))
	})
	return values, errs
}

// Configurations returns for each node the configuration under which it votes, or the node's error. It is "" for a node
// that does not vote.
func (f *Fanout) Configurations(ctx context.Context) ([]string, []error) {
	configs, errs := make([]string, f.N()), make([]error, f.N())
	if f.config.Shard != nil { // each hash slot has its own, and refuses the client when it is used
		return configs, errs
	}
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		configs[i], errs[i] = nodescript.ParseGuard(n.Eval(ctx, nodescript.PeekText(), nodescript.GuardCall()))
	})
	return configs, errs
}

// Valued returns for each node the names that have a value there, or the node's error. A name may occur twice.
func (f *Fanout) Valued(ctx context.Context) ([][]string, []error) {
	names, errs := make([][]string, f.N()), make([]error, f.N())
	f.survey(ctx, func(ctx context.Context, i int, n *asker) {
		for cursor := "0"; ; {
			var some []string
			some, cursor, errs[i] = nodescript.ParseScan(n.Eval(ctx, nodescript.ScanText(), nodescript.ScanCall(cursor, nodescript.ValuePattern, 500)))
			for _, key := range some {
				if name, ok := nodescript.NameOfValue(key); ok {
					names[i] = append(names[i], name)
				}
			}
			if errs[i] != nil || cursor == "0" {
				return
			}
		}
	})
	return names, errs
}

// Time returns the present stamp time. It draws no stamp. It returns the errors of Stamp.
func (f *Fanout) Time() (int64, clock.Instant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	t, err := f.time.Time(now)
	f.refused(err, now)
	return t, now, err
}
