package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/clock"
	"github.com/holdfast-go/holdfast/internal/quorum"
)

// Stamp draws a stamp for an acquire, and the instant at which it was drawn.
func (f *Fanout) Stamp() (int64, clock.Instant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	stamp, err := f.time.Stamp(now)
	f.refused(err, now)
	return stamp, now, err
}

// refused has the clocks read where no stamp could be drawn. f.mu is held.
func (f *Fanout) refused(err error, now clock.Instant) {
	if err != nil && f.time.Known() && (f.reread == 0 || now.Sub(f.reread) >= rereadEvery) {
		f.readSoon() // they may be right again
	}
}

// admission returns a stamp for an admission, and by how much the clock of the node may differ from it. Where the clocks
// are known too badly for that, as when the host was suspended, they are read first.
func (f *Fanout) admission() (stamp int64, within time.Duration, err error) {
	for tries := 0; ; tries++ {
		f.mu.Lock()
		now, off := f.Now(), quorum.Unsettled{}
		stamp, within, err = f.time.Admission(now)
		again := tries == 0 && errors.As(err, &off) && (off.Off > 0 || off.Unread > 0)
		if !again {
			f.refused(err, now)
		}
		f.mu.Unlock()
		if !again {
			return stamp, within, err
		}
		f.readAll()
	}
}

// keepTime has the clocks read every now and then, also while the client has nothing to do: else its stamps could be
// off when it has, and what it learns by that it may not follow for MaxTTL + W. Nobody waits for it.
func (f *Fanout) keepTime() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	wait := f.time.Unread(f.Now())
	if wait == 0 {
		f.readSoon()
		wait = min(missedEvery, quorum.ReadEvery(f.config.Set.Window))
	}
	f.reader = time.AfterFunc(min(wait, lookEvery), f.keepTime)
}

const (
	// missedEvery is how soon clocks are read again of which too few answered.
	missedEvery = 10 * time.Second
	// lookEvery is how often it is looked whether they are to be read: the timer stands while the host is suspended.
	lookEvery = time.Minute
)

// readSoon has the clocks read, unless they are being read already. f.mu is held.
func (f *Fanout) readSoon() {
	if !f.reading && !f.closed {
		f.reading, f.wasRead = true, make(chan struct{})
		f.wait.Go(func() {
			f.readAll()
			f.mu.Lock()
			defer f.mu.Unlock()
			f.reading = false
			close(f.wasRead)
		})
	}
}

// catchUp has the clocks read, and waits for that, if they were not for so long that no stamp can be drawn: the host
// was suspended, or the nodes were away.
func (f *Fanout) catchUp(ctx context.Context) {
	f.mu.Lock()
	if f.closed || !f.time.Overdue(f.Now()) {
		f.mu.Unlock()
		return
	}
	f.readSoon()
	read := f.wasRead
	f.mu.Unlock()
	select {
	case <-read:
	case <-ctx.Done():
	}
}

// rereadEvery is how often the nodes' clocks are read while a move of theirs settles and somebody wants
// a stamp. Nothing else is sent meanwhile that would tell: the clocks may be right again long before.
const rereadEvery = time.Second

// StampHeld draws a stamp for a renewal.
func (f *Fanout) StampHeld() (int64, clock.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	return f.time.StampHeld(now), now
}

// StampAt is the stamp time of an instant.
func (f *Fanout) StampAt(i clock.Instant) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.StampAt(i)
}

// Raise makes later stamps larger than a token that a node has seen.
func (f *Fanout) Raise(seen int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time.Raise(seen, f.Now())
}

// Offset is how far a node's clock is from the majority's, as last read.
func (f *Fanout) Offset(node int) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time.Offset(node)
}

// read takes readings of nodes' clocks.
func (f *Fanout) read(readings ...quorum.Reading) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time.Read(f.Now(), readings...)
	if f.time.Known() {
		select {
		case <-f.settled:
		default:
			close(f.settled)
			if !f.closed {
				f.reader = time.AfterFunc(min(lookEvery, f.time.Unread(f.Now())), f.keepTime)
			}
		}
	}
}

// readAll reads the clocks of all nodes that answer soon enough: later answers say too little.
func (f *Fanout) readAll() {
	readings := make([]quorum.Reading, f.N())
	var wait sync.WaitGroup
	for i, s := range f.seats {
		wait.Go(func() {
			_, readings[i], _ = s.hello(f.hear, min(f.config.Timeout, quorum.LongestTrip(f.config.Set.Window)))
		})
	}
	wait.Wait()
	f.read(readings...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reread = f.Now()
}
