package renewal

// Watcher learns of the renewals of a lease. Its methods must not block, and must not call the lease.
type Watcher interface {
	// Forgotten means that a node did not have the lease, and has it now.
	Forgotten(node int)
	// Renewed means that a majority has renewed the lease.
	Renewed()
}

// Watch has w learn of later renewals. A lease has one watcher at most.
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
