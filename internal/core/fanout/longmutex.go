package fanout

// longMutex is a mutex that a goroutine may hold during round trips. It is a channel. A [sync.Mutex] would stop the
// time in a bubble of testing/synctest while a goroutine waits for it.
type longMutex chan struct{}

func newLongMutex() longMutex { return make(longMutex, 1) }

// Lock waits until the mutex is free and takes it.
func (m longMutex) Lock() { m <- struct{}{} }

// Unlock frees the mutex.
func (m longMutex) Unlock() { <-m }

// TryLock takes the mutex if it is free. It reports whether it took the mutex.
func (m longMutex) TryLock() bool {
	select {
	case m <- struct{}{}:
		return true
	default:
		return false
	}
}
