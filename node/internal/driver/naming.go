package driver

import "context"

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

var _, _ Naming = (*Sentinels)(nil), (*Shard)(nil)
