package fanout

import "time"

// AfterFunc is [time.AfterFunc] for the goroutines of this client: the function first calls Woken.
func (f *Fanout) AfterFunc(d time.Duration, do func()) *time.Timer {
	if f.config.Woken == nil {
		return time.AfterFunc(d, do)
	}
	return time.AfterFunc(d, func() {
		f.config.Woken()
		do()
	})
}

// Woken marks that a goroutine of the client continues after a wait. A simulation may hold the goroutine back here. The
// caller holds no mutex.
func (f *Fanout) Woken() {
	if f.config.Woken != nil {
		f.config.Woken()
	}
}
