package renewal

// Watcher receives the renewals of a lease. Its methods must not block, and must not call methods of the lease.
type Watcher interface {
	// Forgotten is called when a node did not have the lease and a renewal has stored it there again.
	Forgotten(node int)
	// Renewed is called when a majority has renewed the lease.
	Renewed()
}

// Watch sets w as the watcher of the lease. A lease has at most one watcher.
func (e *Lease) Watch(w Watcher) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rareLocked().watcher = w
}

func (e *Lease) forgottenBy(node int) {
	e.mu.Lock()
	w := e.watcherLocked()
	e.mu.Unlock()
	if w != nil {
		w.Forgotten(node)
	}
}
