package driver

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/node"
)

// Naming finds the master of a node by asking other servers: [Sentinels], or those of a cluster ([Shard]). It is safe
// for concurrent use. Its functions found and lost must not block.
type Naming interface {
	// Master calls found with the master if a majority names it. Otherwise it returns an error. The calls of found come
	// one after the other, also for other calls of Master and Watch.
	Master(ctx context.Context, found func(Named)) error

	// Watch calls found again and again with the master, until ctx ends. It calls lost, perhaps several times, if no
	// majority names one for about twice [askEvery].
	Watch(ctx context.Context, found func(Named), lost func())

	// Close ends the connections of the naming.
	Close()
}

// Confirm makes sure, before a call that may grant a lock in reign r, that a naming named the master of r within
// [node.NamedFor]. The goroutine of Watch does that already, unless it was delayed. After an error the call must not be
// sent. If r has ended meanwhile, [Masters.Admits] finds that.
func (m *Masters) Confirm(ctx context.Context, by Naming, r *Reign) error {
	if by == nil || m.Stands(r) {
		return nil
	}
	if err := by.Master(ctx, func(n Named) { m.At(n) }); err != nil {
		return node.NotSent(err)
	}
	if m.Now() == r && !m.Stands(r) {
		return node.NotSent(errLateName)
	}
	return nil
}

// errLateName is the error of a call if the answer of the naming is already too old.
var errLateName = errors.New("the servers that name the master answered too late: the network or this process is too slow")

var _, _ Naming = (*Sentinels)(nil), (*Shard)(nil)
