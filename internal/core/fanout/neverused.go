package fanout

import (
	"errors"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// ErrNeverUsed is the answer of a node that has no record of a client, after SpareUnused.
var ErrNeverUsed = errors.New("was never used: it has no record of a client")

// SpareUnused makes this client ask no node for admission that has never admitted a client. Such a node stores the
// settings of the first client, and then refuses clients with other settings. So a client that only looks, and may have
// wrong settings, leaves the node as it is. The answer of the node is then ErrNeverUsed. A shard of a Redis Cluster has
// a record for each hash slot, and is not spared. A client that called SpareUnused cannot make a new node vote. Call it
// before the first message.
func (f *Fanout) SpareUnused() { f.spares.Store(true) }

// spared reports whether the node with this answer to hello gets no question for admission.
func (v *voter) spared(h nodescript.Hello) bool {
	return v.fan.spares.Load() && v.fan.config.Shard == nil && h.ID == ""
}
